/** The version from package.json. */
import {readFileSync} from "node:fs";

const manifest = JSON.parse(readFileSync(new URL(import.meta.resolve("#package/package.json")), "utf8")) as {
  version: string;
};

export const VERSION: string = manifest.version;
