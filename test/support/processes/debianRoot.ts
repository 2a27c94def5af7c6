/** The least of Debian 13 in the user's cache folder, made by debootstrap, for tests with its glibc and its packages. */
import {spawnSync} from "node:child_process";
import {existsSync, mkdirSync, mkdtempSync, renameSync, rmSync} from "node:fs";
import {join} from "node:path";
import {findProgram, PROGRAMS_FOLDER, ProgramMissing} from "./foundProgram.ts";

/** Debian 13. */
export const DEBIAN_SUITE = "trixie";
export const DEBIAN_ROOT: string = join(PROGRAMS_FOLDER, "debian-13");

/** In a folder of its own, so that what is interrupted is not taken for whole. @throws ProgramMissing */
export function installDebian(): void {
  if (existsSync(DEBIAN_ROOT)) return;
  if (process.getuid?.() !== 0 || findProgram("debootstrap") === undefined)
    throw new ProgramMissing("Debian 13 needs root and debootstrap");
  console.log(`debootstrap: Debian 13 -> ${DEBIAN_ROOT}`);
  mkdirSync(PROGRAMS_FOLDER, {recursive: true});
  const made = mkdtempSync(`${DEBIAN_ROOT}-`);
  try {
    const args = ["--variant=minbase", DEBIAN_SUITE, made];
    const {status, stdout} = spawnSync("debootstrap", args, {encoding: "utf8"});
    if (status !== 0) throw new ProgramMissing(`debootstrap did not make Debian 13: ${stdout.slice(-1000)}`);
    renameSync(made, DEBIAN_ROOT);
  } finally {
    rmSync(made, {recursive: true, force: true});
  }
}
