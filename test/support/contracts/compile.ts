/**
 * Writes src/Poseidon2.sol of contracts/, compiles src/*.sol and writes artefacts.json. Both are checked in:
 * node dist/test/support/contracts/compile.js
 */
import {readdirSync, readFileSync, writeFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import solc from "solc";
import {ARTEFACTS, type Artefact, type Artefacts} from "../../../contracts/artefacts.ts";
import {poseidon2Source} from "./poseidon2Source.ts";
import {compileSolidity} from "./solidity.ts";

const SOURCES = new URL("src/", ARTEFACTS);
export const POSEIDON2 = new URL("Poseidon2.sol", SOURCES);

const SETTINGS = {
  // Hashing is nearly all that these contracts do, so gas counts for more than size. More runs make Poseidon2ProofVerifier exceed
  // the 24 576 bytes that a contract may have.
  optimizer: {enabled: true, runs: 20_000},
  viaIR: true,
  evmVersion: "cancun",
  metadata: {appendCBOR: false, bytecodeHash: "none"},
};

/** The text of artefacts.json. @throws Error with what the compiler finds wrong; warnings too */
export function compileContracts(): string {
  const names = readdirSync(SOURCES).filter(name => name.endsWith(".sol"));
  const sources = Object.fromEntries(
    names.sort().map(name => [name, readFileSync(new URL(name, SOURCES), "utf8")]),
  );
  const contracts = compileArtefacts(sources);
  const artefacts: Artefacts = {compiler: solc.version(), settings: SETTINGS, contracts};
  return `${JSON.stringify(artefacts, undefined, 1)}\n`;
}

/** The contracts that can be created, by name. Parameters and errors as of compileSolidity, without warnings. */
export function compileArtefacts(
  sources: Readonly<Record<string, string>>,
  read?: Parameters<typeof compileSolidity>[3],
): Readonly<Record<string, Artefact>> {
  const contracts: Record<string, Artefact> = {};
  for (const [name, {abi, evm}] of compileSolidity(sources, SETTINGS, ["error", "warning"], read)) {
    const {object: bytecode} = evm.bytecode;
    if (bytecode === "" || abi.length === 0) continue;
    const {object: deployedBytecode} = evm.deployedBytecode;
    // With 0x: libraries such as viem take hex without it for text, and deploy garbage.
    contracts[name] = {abi, bytecode: `0x${bytecode}`, deployedBytecode: `0x${deployedBytecode}`};
  }
  return contracts;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(POSEIDON2, poseidon2Source());
  writeFileSync(ARTEFACTS, compileContracts());
}
