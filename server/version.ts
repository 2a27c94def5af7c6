/** The version from package.json, and the commit of the build (build.js). */
import {existsSync, readFileSync} from "node:fs";

const BUILT = new URL(import.meta.resolve("#package/dist/built.json"));

function read(file: URL): {readonly version: string; readonly commit: string | null} {
  return JSON.parse(readFileSync(file, "utf8"));
}

export const VERSION = read(new URL(import.meta.resolve("#package/package.json"))).version;

/** " (changed)" follows it if files differed from it. "unknown" outside of a clone. */
export const COMMIT = (existsSync(BUILT) ? read(BUILT).commit : null) ?? "unknown";
