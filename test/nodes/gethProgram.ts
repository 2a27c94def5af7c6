/** Finds geth. It is no package of npm: users have their own, or install one by `node dist/test/nodes/install.js`. */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {GETH_FOLDER} from "../../bench/peers/gethChain.ts";
import {findProgram, ProgramMissing, readVersion} from "../support/processes/foundProgram.ts";

/** @returns the path of the one in PATH, else of the installed one. @throws ProgramMissing */
export function findGeth(): string {
  const installed = join(GETH_FOLDER, "geth");
  const path = findProgram("geth") ?? (existsSync(installed) ? installed : undefined);
  if (path !== undefined) return path;
  throw new ProgramMissing(
    "expected geth in PATH, in --geth FILE, or installed by: node dist/test/nodes/install.js",
  );
}

/** @throws ProgramMissing if it does not run as geth */
export function readGethVersion(path: string): string {
  return readVersion("geth", path, "version", /^Version: (.*)$/m);
}
