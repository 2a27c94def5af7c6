/** Where bench programs keep stores and figures, and the files of those that run servers. */
import {mkdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import type {Machine} from "../load/report/machine.ts";

/** Never ./data: that is the folder of the service's store, and a store is not made where other files lie. */
export const BENCH_FOLDER = "bench-data";
export const RUNS_FOLDER: string = join(BENCH_FOLDER, "runs");

/** @param name - the file's, before the date. @returns its path */
export function writeRun(name: string, machine: Machine, found: Readonly<Record<string, unknown>>): string {
  mkdirSync(RUNS_FOLDER, {recursive: true});
  const file = join(RUNS_FOLDER, `${name}-${machine.date.replaceAll(/[:.]/g, "-")}.json`);
  writeFileSync(file, `${JSON.stringify({machine, ...found}, null, 1)}\n`);
  return file;
}
