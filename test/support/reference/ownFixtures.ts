/**
 * Makes test/fixtures/own/rollup.json, the compiled contract of test/support/layer1/rollupContract.ts.
 *
 * Run: node dist/test/support/reference/ownFixtures.js
 */
import {writeFileSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {fixturePath} from "./fixtures.ts";

export const ROLLUP = "own/rollup";

/** The compiler is loaded only here, which takes a second. @returns the file's text */
export async function makeRollup(): Promise<string> {
  const {compileSource} = await import("../demo/compileContracts.ts");
  const {Rollup} = await compileSource(
    fileURLToPath(import.meta.resolve("#package/test/fixtures/own/Rollup.sol")),
  );
  const source = "made by `node dist/test/support/reference/ownFixtures.js` from Rollup.sol";
  return `${JSON.stringify({source, contract: Rollup}, null, 1)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(fixturePath(ROLLUP), await makeRollup());
