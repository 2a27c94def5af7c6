/**
 * Makes compiled contracts: test/fixtures/own/rollup.json, of test/support/layer1/rollupContract.ts, slotOfBlock.json, which
 * docs/bridging.md prints, and notes.json, which are read by CCIP-read.
 *
 * Run: node dist/test/support/reference/ownFixtures.js
 */
import {readFileSync, writeFileSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {readBlock, readDocument} from "../documents/printedBlocks.ts";
import {fixturePath} from "./fixtures.ts";

const SOURCES = {
  rollup: {from: "Rollup.sol", read: () => readText("#package/test/fixtures/own/Rollup.sol")},
  slotOfBlock: {
    from: "docs/bridging.md",
    read: () => readBlock(readDocument("docs/bridging.md"), "solidity"),
  },
} as const;

/** The compiler is loaded only here, which takes a second. @returns texts of the files, by their names without ".json" */
export async function makeContracts(): Promise<Map<string, string>> {
  const {compileSource, readImport} = await import("../demo/compileContracts.ts");
  const {compileArtefacts} = await import("../contracts/compile.ts");
  const made = new Map<string, string>();
  for (const [name, {from, read}] of Object.entries(SOURCES)) {
    const [contract] = Object.values(compileSource(`${name}.sol`, read()));
    made.set(`own/${name}`, describe(from, {contract}));
  }
  const contracts = compileArtefacts(
    {"Notes.sol": readText("#package/test/fixtures/own/Notes.sol")},
    readImport,
  );
  made.set("own/notes", describe("Notes.sol", {contracts}));
  return made;
}

function describe(from: string, made: object): string {
  const source = `made by \`node dist/test/support/reference/ownFixtures.js\` from ${from}`;
  return `${JSON.stringify({source, ...made}, null, 1)}\n`;
}

function readText(specifier: string): string {
  return readFileSync(fileURLToPath(import.meta.resolve(specifier)), "utf8");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, text] of await makeContracts()) writeFileSync(fixturePath(name), text);
