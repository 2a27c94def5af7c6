/** Where bench programs keep stores and figures, including the programs that run servers, and where the figures come from. */
import {mkdirSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
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

/** @param name - the file's name before the date */
export function pathOfRun(name: string, {date}: Origin): string {
  return join(BENCH_FOLDER, "runs", `${name}-${date.replaceAll(/[:.]/g, "-")}.json`);
}

/** @returns the file's path */
export function writeRun(name: string, machine: Origin, found: Readonly<Record<string, unknown>>): string {
  const file = pathOfRun(name, machine);
  mkdirSync(dirname(file), {recursive: true});
  writeFileSync(file, `${JSON.stringify({machine, ...found}, null, 1)}\n`);
  return file;
}
