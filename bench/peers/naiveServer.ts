/** The naive server of `npm run bench:peers`. What it serves with is loaded when its flags are right. */
import {existsSync} from "node:fs";
import {availableParallelism} from "node:os";
import {join} from "node:path";
import {Option} from "commander";
import {countOption, createProgram, FlagError, runProgram} from "../program/benchProgram.ts";
import type {NaiveFlags} from "./naiveService.ts";

const MAX_WORKERS = 256;

const program = createProgram(
  "node dist/bench/peers/naiveServer.js",
  "Serves a naive store on a free port of this machine, for bench:peers. Not for use.",
  [
    new Option("--db <folder>", "the naive store that bench:peers makes").makeOptionMandatory(),
    countOption("--workers <count>", "threads that read it", 1, MAX_WORKERS).default(
      Math.max(1, availableParallelism() - 1),
    ),
  ],
);
await runProgram<NaiveFlags>(program, async flags => {
  // LevelDB creates the folder even if it is told not to create a store.
  if (!existsSync(join(flags.db, "CURRENT")))
    throw new FlagError(`--db: expected a naive store, got '${flags.db}', which has no store`);
  const {serveNaive} = await import("./naiveService.ts");
  await serveNaive(flags);
});
