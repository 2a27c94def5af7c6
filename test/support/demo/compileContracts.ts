/**
 * Compiles demo/contracts/*.sol and writes each one's bytecode next to it: node dist/test/support/demo/compileContracts.js
 *
 * The settings make the bytes depend on the source alone: no metadata hash, no path, one compiler version.
 */
import {readdirSync, readFileSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {basename, join} from "node:path";
import {pathToFileURL} from "node:url";
import solc from "solc";
import {CONTRACTS_FOLDER, type ContractArtefact, type SourceArtefact} from "../../../demo/artefact.ts";
import {compileSolidity} from "../contracts/solidity.ts";

const SETTINGS = {
  optimizer: {enabled: true, runs: 200},
  evmVersion: "prague",
  metadata: {appendCBOR: false, bytecodeHash: "none"},
};

/** Text of each artefact by the name of its source, "DemoToken" and so on. */
export function compileContracts(): Map<string, string> {
  const sources = readdirSync(CONTRACTS_FOLDER).filter(file => file.endsWith(".sol"));
  const artefacts = new Map<string, string>();
  for (const file of sources.sort())
    artefacts.set(
      basename(file, ".sol"),
      describe(file, compileSource(file, readFileSync(join(CONTRACTS_FOLDER, file), "utf8"))),
    );
  return artefacts;
}

/**
 * The contracts of one source file, by name. It may import from packages.
 *
 * @throws Error with what the compiler finds wrong
 */
export function compileSource(file: string, content: string): Readonly<Record<string, ContractArtefact>> {
  const contracts: Record<string, ContractArtefact> = {};
  for (const [name, {evm}] of compileSolidity({[file]: content}, SETTINGS, ["error"], readImport))
    contracts[name] = {
      bytecode: evm.bytecode.object,
      deployedBytecode: evm.deployedBytecode.object,
      methods: evm.methodIdentifiers,
    };
  return contracts;
}

/** @param path - in a package */
export function readImport(path: string): {contents: string} {
  return {contents: readFileSync(createRequire(import.meta.url).resolve(path), "utf8")};
}

function describe(file: string, contracts: SourceArtefact["contracts"]): string {
  const artefact: SourceArtefact = {source: file, compiler: solc.version(), settings: SETTINGS, contracts};
  return `${JSON.stringify(artefact, null, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  for (const [name, text] of compileContracts()) writeFileSync(join(CONTRACTS_FOLDER, `${name}.json`), text);
