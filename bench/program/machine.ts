/** Figures mean nothing without the machine and the commit that they come from. */
import {describeMachine, type Machine, writeMachine} from "proofd-load";
import {COMMIT} from "../../server/version.ts";

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
