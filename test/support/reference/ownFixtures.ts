/** Makes the compiled contracts in test/fixtures/own. */
import {fileURLToPath} from "node:url";
import type {ContractArtefact} from "../../../demo/artefact.ts";

/** What is in each file, by its name below test/fixtures. */
const MAKERS: Readonly<Record<string, () => Promise<object>>> = {
  // The contract of test/support/layer1/rollupContract.ts.
  "own/rollup": async () => ({...madeFrom("Rollup.sol"), contract: (await compileOwn("Rollup.sol")).Rollup}),
};

function madeFrom(name: string): {source: string} {
  return {source: `made by \`node dist/test/support/reference/writeFixtures.js\` from ${name}`};
}

/** The compiler is loaded only here, which takes a second. */
async function compileOwn(name: string): Promise<Readonly<Record<string, ContractArtefact>>> {
  const {compileSource} = await import("../demo/compileContracts.ts");
  return compileSource(fileURLToPath(import.meta.resolve(`#package/test/fixtures/own/${name}`)));
}

export const OWN_FIXTURES = Object.keys(MAKERS);

/** @param name - one of OWN_FIXTURES. @returns the file's text */
export async function makeOwnFixture(name: string): Promise<string> {
  return `${JSON.stringify(await MAKERS[name]?.(), null, 1)}\n`;
}
