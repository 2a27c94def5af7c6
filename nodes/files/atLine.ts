import {StoreError} from "../../storage/errors.ts";
import {SourceError} from "../blocks/sourceStep.ts";
import {NodeFailure} from "../rpc/node.ts";

const EXPECTED = [SourceError, NodeFailure, StoreError] as const;

/** @param reader - `line` is read after a failure. @throws SourceError with the number of the line */
export function atLine<Result>(reader: {readonly line: number}, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!EXPECTED.some(kind => error instanceof kind)) throw error;
    throw new SourceError(`line ${reader.line}: ${(error as Error).message}`, {cause: error});
  }
}
