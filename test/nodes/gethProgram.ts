/** Finds geth. It is no package of npm: users have their own, or install one by `node dist/test/nodes/install.js`. */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {
  findProgram,
  PROGRAMS_FOLDER,
  ProgramMissing,
  readVersion,
} from "../support/processes/foundProgram.ts";

/** The one that the tests were made with. */
export const GETH_VERSION = "v1.17.10";
/** Where it is installed to. */
export const GETH_FOLDER: string = join(PROGRAMS_FOLDER, `geth-${GETH_VERSION}`);

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
