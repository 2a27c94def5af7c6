/** What does not verify, and where it stands. */

import {ProofError} from "../proof/proofError.ts";
import {PulledError} from "./pulledError.ts";

/** @throws PulledError that names the place, for what the work refuses */
export function at<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof PulledError) throw error;
    if (!(error instanceof Error) || (error instanceof TypeError && !(error instanceof ProofError)))
      throw error;
    throw new PulledError("DAMAGED", `${place}: ${error.message}`, error);
  }
}

export function damaged(place: string, problem: string): PulledError {
  return new PulledError("DAMAGED", `${place}: ${problem}`);
}
