/** Programs that a machine may have. */
import {spawnSync} from "node:child_process";
import {accessSync, constants} from "node:fs";
import {homedir} from "node:os";
import {delimiter, join} from "node:path";

/** Where the project's own installers put programs. */
export const PROGRAMS_FOLDER: string = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "proofd",
);

export class ProgramMissing extends Error {
  /** @param isNamed - there is one, or the user named one */
  constructor(
    message: string,
    readonly isNamed = false,
  ) {
    super(message);
  }
}

export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(folder => folder !== "");
  return names.flatMap(name => folders.map(folder => join(folder, name))).find(isExecutable);
}

/**
 * Runs the program with `argument`.
 *
 * @param pattern - matches the version in what it prints
 * @throws ProgramMissing if it does not run, or prints no version
 */
export function readVersion(name: string, path: string, argument: string, pattern: RegExp): string {
  const {status, stdout, stderr, error} = spawnSync(path, [argument], {encoding: "utf8"});
  const version = pattern.exec(stdout ?? "")?.[1];
  if (status === 0 && version !== undefined) return version;
  const why = error?.message ?? (stderr.trim() || "it prints no version");
  throw new ProgramMissing(`expected ${name}, but ${path} does not run as it: ${why}`, true);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
