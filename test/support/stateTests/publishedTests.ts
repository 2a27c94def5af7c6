/** The published tests that ../shared has beside the checkout, packed. */
import {existsSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {runChild} from "../processes/childProcesses.ts";

const PACKED = fileURLToPath(
  new URL("../shared/data/execution-tests/fixtures.tar.xz", import.meta.resolve("#package/package.json")),
);

/** Unpacks them. @returns why there are none, undefined: `state_tests` and `blockchain_tests` are in the folder */
export async function unpackTests(folder: string): Promise<string | undefined> {
  if (!existsSync(PACKED)) return `${PACKED} is absent`;
  const {code, stderr} = await runChild("tar", ["-C", folder, "-xf", PACKED]);
  return code === 0 ? undefined : `tar cannot unpack ${PACKED}: ${stderr}`;
}
