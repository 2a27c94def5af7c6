/** Makes the files in test/fixtures/own. Tests read them, and they help anyone who writes a verifier or a store. */
import {fileURLToPath} from "node:url";
import {poseidon2Suite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {ContractArtefact} from "../../../demo/artefact.ts";
import {compileSource} from "../../../demo/compileContracts.ts";
import {makeProofVectors} from "./proofVectors.ts";
import {makeTreeVectors} from "./treeVectors.ts";
import {makeVerifierVectors} from "./verifierVectors.ts";

const SOURCE =
  "made by `node dist/test/support/reference/writeFixtures.js` from the reference trees of test/support/reference and the " +
  "hashes of client/, which share no code with storage/ and workers/";

const VERIFIER_SOURCE = `${SOURCE}; client/compact writes the bytes`;

/** The contracts of test/support/gas/gasAccounts.ts. */
function compileGasCases(): {contracts: Readonly<Record<string, ContractArtefact>>} {
  return {
    contracts: compileSource(fileURLToPath(import.meta.resolve("#package/test/fixtures/own/GasCases.sol"))),
  };
}

/** The contract of test/support/layer1/rollupContract.ts. */
function compileRollup(): {contract: ContractArtefact} {
  const {Rollup: contract} = compileSource(
    fileURLToPath(import.meta.resolve("#package/test/fixtures/own/Rollup.sol")),
  );
  if (contract === undefined) throw new Error("Rollup.sol has no contract Rollup");
  return {contract};
}

function makeCompiled(): Readonly<Record<string, object>> {
  const madeFrom = (name: string) =>
    `made by \`node dist/test/support/reference/writeFixtures.js\` from ${name}`;
  return {
    "own/rollup": {source: madeFrom("Rollup.sol"), ...compileRollup()},
    "own/gas-cases": {source: madeFrom("GasCases.sol"), ...compileGasCases()},
  };
}

/** The text of each file, by its name below test/fixtures. @param compiles - whether those with compiled contracts are among them */
export function makeOwnFixtures(compiles = true): ReadonlyMap<string, string> {
  const files = {
    "own/trees-sha256": makeTreeVectors(sha256Suite),
    "own/trees-poseidon2": makeTreeVectors(poseidon2Suite),
    "own/proofs-sha256": makeProofVectors(sha256Suite),
    "own/proofs-poseidon2": makeProofVectors(poseidon2Suite),
    "own/verifier-sha256": {source: VERIFIER_SOURCE, ...makeVerifierVectors(sha256Suite)},
    "own/verifier-poseidon2": {source: VERIFIER_SOURCE, ...makeVerifierVectors(poseidon2Suite)},
  };
  return new Map(
    Object.entries({...files, ...(compiles ? makeCompiled() : {})}).map(([name, vectors]) => [
      name,
      `${JSON.stringify({source: SOURCE, ...vectors}, null, 1)}\n`,
    ]),
  );
}
