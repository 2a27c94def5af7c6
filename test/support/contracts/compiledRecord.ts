/**
 * A hash over all contracts that are checked in: sources, compiler, settings and bytecode. The compiler takes a minute, so tests
 * run it only where this hash is not the recorded one, or the variable COMPILE is set.
 *
 * Record what was compiled and compared: node dist/test/support/contracts/compiledRecord.js
 */
import {createHash} from "node:crypto";
import {readdirSync, readFileSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";
import {readBlock, readDocument} from "../documents/printedBlocks.ts";

const ROOT = new URL("./", import.meta.resolve("#package/package.json"));
const RECORD = new URL("test/fixtures/own/compiled.sha256", ROOT);
const FILES = [
  "contracts/artefacts.json",
  "test/support/contracts/compile.ts",
  "test/support/contracts/solidity.ts",
  "test/support/demo/compileContracts.ts",
];
const FOLDERS = ["contracts/src/", "demo/contracts/"];
const OWN = ["Notes.sol", "notes.json", "Rollup.sol", "rollup.json", "slotOfBlock.json"];
const PACKAGES = ["solc", "@openzeppelin/contracts"];

function hashCompiled(): string {
  const inFolders = FOLDERS.flatMap(folder => readdirSync(new URL(folder, ROOT)).map(name => folder + name));
  const hash = createHash("sha256");
  for (const name of PACKAGES) hash.update(createRequire(import.meta.url)(`${name}/package.json`).version);
  hash.update(readBlock(readDocument("docs/bridging.md"), "solidity"));
  for (const path of [...FILES, ...inFolders.sort(), ...OWN.map(name => `test/fixtures/own/${name}`)]) {
    const text = readFileSync(new URL(path, ROOT), "utf8");
    hash.update(`\0${path} ${text.length}\0${text}`);
  }
  return `${hash.digest("hex")}\n`;
}

export function isCompiledAsRecorded(): boolean {
  return process.env.COMPILE === undefined && readFileSync(RECORD, "utf8") === hashCompiled();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync(RECORD, hashCompiled());
