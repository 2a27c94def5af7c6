/** The folder of bench programs, and the origin of figures. */
import {describeMachine, type Machine, writeMachine} from "proofd-load";
import {COMMIT} from "../../server/version.ts";

/** Not ./data, which is the default store of the service. */
export const BENCH_FOLDER = "bench-data";

export interface Origin extends Machine {
  readonly commit: string;
  /** ISO 8601. */
  readonly date: string;
}

export function readOrigin(): Origin {
  return {...describeMachine(), commit: COMMIT, date: new Date().toISOString()};
}

export function writeOrigin(origin: Origin): string {
  return `${writeMachine(origin)}, commit ${origin.commit}`;
}
