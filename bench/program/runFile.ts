/** Where bench programs keep stores and figures, including the programs that run servers. */
import {mkdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import type {Origin} from "./machine.ts";

/** Never ./data: that is the store of the service, and a new store needs an empty folder. */
export const BENCH_FOLDER = "bench-data";
export const RUNS_FOLDER: string = join(BENCH_FOLDER, "runs");

/** @param name - the file's name before the date. @returns the file's path */
export function writeRun(name: string, machine: Origin, found: Readonly<Record<string, unknown>>): string {
  mkdirSync(RUNS_FOLDER, {recursive: true});
  const file = join(RUNS_FOLDER, `${name}-${machine.date.replaceAll(/[:.]/g, "-")}.json`);
  writeFileSync(file, `${JSON.stringify({machine, ...found}, null, 1)}\n`);
  return file;
}
