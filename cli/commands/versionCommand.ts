/** `proofd version`: what to include in a bug report. */
import {loadUws} from "../../server/listener/uwsLibrary.ts";
import {COMMIT, VERSION} from "../../server/version.ts";
import {STORE_SUITE_NAMES} from "../../storage/hash/suiteNames.ts";

export function describeVersion(): string {
  const {version, platform, arch} = process;
  const rows = [
    ["proofd", VERSION],
    ["commit", COMMIT],
    ["Node", `${version.slice(1)}, ${platform} ${arch}`],
    ["HTTP", nameLibrary()],
    ["suites", STORE_SUITE_NAMES.join(", ")],
  ];
  return rows.map(row => `${row.join(" ")}\n`).join("");
}

/** The choice of `--http auto`. */
function nameLibrary(): string {
  try {
    loadUws();
    return "uWebSockets.js";
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    return `node:http, since uWebSockets.js does not load here: ${reason}`;
  }
}
