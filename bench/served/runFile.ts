/** What a bench that runs servers found, kept as JSON. */
import {mkdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {BENCH_FOLDER} from "../stages/benchStore.ts";
import type {Machine} from "./machine.ts";

/** @param name - the file's, before the date. @returns its path */
export function writeRun(name: string, machine: Machine, found: Readonly<Record<string, unknown>>): string {
  const folder = join(BENCH_FOLDER, "runs");
  mkdirSync(folder, {recursive: true});
  const file = join(folder, `${name}-${machine.date.replaceAll(/[:.]/g, "-")}.json`);
  writeFileSync(file, `${JSON.stringify({machine, ...found}, null, 1)}\n`);
  return file;
}
