/**
 * Writes test/fixtures/own/store-format-N.json: node dist/test/support/stores/writePackedStore.js N
 *
 * Run it with the last release that writes format N, before the next format is begun. The file then stays as it is: tests open
 * it with every later release.
 */
import {mkdtemp, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {SUITE_NAMES, type SuiteName} from "../../../storage/hash/suiteNames.ts";
import type {AccountDifference, DifferenceLine} from "../chains/differenceLine.ts";
import {fixturePath} from "../reference/fixtures.ts";
import {importLines} from "./importedStore.ts";
import {type PackedStores, packStore} from "./packedStore.ts";

const CONTRACT = addressOf(3);
const DELETED = addressOf(5);
const SLOTS = Object.fromEntries(Array.from({length: 9}, (_, i) => [`0x${i + 1}`, `0x${i + 16}`]));

/** The accounts of each block: created, changed, deleted, created again. */
const BLOCKS: readonly Record<string, AccountDifference | null>[] = [
  {
    ...Object.fromEntries(Array.from({length: 9}, (_, i) => [addressOf(i), {balance: `0x${i + 1}`}])),
    [CONTRACT]: {nonce: "0x1", code: "0x6001", storage: SLOTS},
  },
  {[CONTRACT]: {storage: {"0x3": "0x0"}}, [DELETED]: null, [addressOf(20)]: {nonce: "0x7"}},
  {
    [DELETED]: {balance: "0x5"},
    [CONTRACT]: {reset: true, code: "0x6002", storage: {"0x2": "0x9", "0x20": "0x1"}},
  },
  {[CONTRACT]: {storage: {"0x3": "0x7"}}, [addressOf(0)]: {nonce: "0x1"}},
];
/** Blocks that lie in a table; those after them in a log. */
const TABLED = 2;

function addressOf(i: number): string {
  return `0x${(0x2400 + i).toString(16).padStart(40, "0")}`;
}

const lines: readonly DifferenceLine[] = BLOCKS.map((accounts, block) => ({
  number: `0x${block}`,
  hash: encodeHex(word(block + 1)),
  parentHash: encodeHex(word(block)),
  ...(block === 0 ? {chainId: "0x539"} : {}),
  ...(block === 2 ? {finalized: "0x1"} : {}),
  accounts,
}));

const format = process.argv[2];
const folder = await mkdtemp(join(tmpdir(), "proofd-packed-"));
const stores: Partial<Record<SuiteName, Record<string, string>>> = {};
for (const suite of SUITE_NAMES) {
  const directory = join(folder, suite);
  await importLines(directory, lines.slice(0, TABLED), {suite});
  await importLines(directory, lines, {suite});
  stores[suite] = await packStore(directory);
}
const source = `made by \`node dist/test/support/stores/writePackedStore.js ${format}\` with the last code that wrote store format ${format}`;
const packed: PackedStores = {source, lines, stores: stores as PackedStores["stores"]};
await writeFile(fixturePath(`own/store-format-${format}`), `${JSON.stringify(packed, null, 1)}\n`);
await rm(folder, {recursive: true});
