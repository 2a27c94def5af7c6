/** Makes the files in test/fixtures/own. Tests read them, and they help anyone who writes a verifier or a store. */
import {fileURLToPath} from "node:url";
import {poseidon2Suite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {ContractArtefact} from "../../../demo/artefact.ts";
import {makeChangeVectors} from "./changeVectors.ts";
import {makeProofVectors} from "./proofVectors.ts";
import {makeRangeVectors} from "./rangeVectors.ts";
import {makeTreeVectors} from "./treeVectors.ts";
import {makeVerifierVectors} from "./verifierVectors.ts";

const SOURCE =
  "made by `node dist/test/support/reference/writeFixtures.js` from the reference trees of test/support/reference and the " +
  "hashes of client/, which share no code with storage/ and workers/";

const VERIFIER_SOURCE = `${SOURCE}; client/compact writes the bytes`;

/** What is in each file, by its name below test/fixtures. */
const MAKERS: Readonly<Record<string, () => object | Promise<object>>> = {
  "own/trees-sha256": () => makeTreeVectors(sha256Suite),
  "own/trees-poseidon2": () => makeTreeVectors(poseidon2Suite),
  "own/proofs-sha256": () => makeProofVectors(sha256Suite),
  "own/proofs-poseidon2": () => makeProofVectors(poseidon2Suite),
  "own/verifier-sha256": () => ({source: VERIFIER_SOURCE, ...makeVerifierVectors(sha256Suite)}),
  "own/verifier-poseidon2": () => ({source: VERIFIER_SOURCE, ...makeVerifierVectors(poseidon2Suite)}),
  "own/leaves-sha256": () => makeRangeVectors(sha256Suite),
  "own/leaves-poseidon2": () => makeRangeVectors(poseidon2Suite),
  "own/changes-sha256": () => makeChangeVectors(sha256Suite),
  "own/changes-poseidon2": () => makeChangeVectors(poseidon2Suite),
  // The contract of test/support/layer1/rollupContract.ts.
  "own/rollup": async () => ({...madeFrom("Rollup.sol"), contract: (await compileOwn("Rollup.sol")).Rollup}),
  // The contracts of test/support/gas/gasAccounts.ts.
  "own/gas-cases": async () => ({...madeFrom("GasCases.sol"), contracts: await compileOwn("GasCases.sol")}),
};

function madeFrom(name: string): {source: string} {
  return {source: `made by \`node dist/test/support/reference/writeFixtures.js\` from ${name}`};
}

/** The compiler is loaded only here, which takes a second. */
async function compileOwn(name: string): Promise<Readonly<Record<string, ContractArtefact>>> {
  const {compileSource} = await import("../../../demo/compileContracts.ts");
  return compileSource(fileURLToPath(import.meta.resolve(`#package/test/fixtures/own/${name}`)));
}

export const OWN_FIXTURES = Object.keys(MAKERS);
export const COMPILED_FIXTURES: readonly string[] = ["own/rollup", "own/gas-cases"];

/** @param name - one of OWN_FIXTURES. @returns the file's text */
export async function makeOwnFixture(name: string): Promise<string> {
  return `${JSON.stringify({source: SOURCE, ...(await MAKERS[name]?.())}, null, 1)}\n`;
}
