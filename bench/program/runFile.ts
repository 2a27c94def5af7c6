/** Where bench programs keep stores and figures, and where the figures come from. */
import {describeMachine, type Machine, writeMachine} from "proofd-load";
import {COMMIT} from "../../server/version.ts";

/** Never ./data: that is the store of the service, and a new store needs an empty folder. */
export const BENCH_FOLDER = "bench-data";

/** Figures mean nothing without the machine and the commit that they come from. */
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
