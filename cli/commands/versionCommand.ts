/** `proofd version`: what to tell with a question or a report of a bug. */
import {COMMIT, VERSION} from "../../server/version.ts";
import {SUITE_NAMES} from "../../storage/hash/suiteNames.ts";

/** @returns the text to print */
export function describeVersion(): string {
  const {version, platform, arch} = process;
  const rows = [
    ["proofd", VERSION],
    ["commit", COMMIT],
    ["Node", `${version.slice(1)}, ${platform} ${arch}`],
    ["suites", SUITE_NAMES.join(", ")],
  ];
  return rows.map(row => `${row.join(" ")}\n`).join("");
}
