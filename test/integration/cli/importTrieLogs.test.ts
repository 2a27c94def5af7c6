/** `import --trielogs`: the same store as that of the same chain's blocks, and what is refused. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import {readRlpBlocks} from "../../../evm/execution/rlpBlocks.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {SUITE_NAMES} from "../../../storage/hash/suiteNames.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import type {ImportOutcome} from "../../../workers/messages/importJob.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {encodeHexLines, encodeJsonLines, type LoggedBlock} from "../../support/chains/loggedBlock.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {TrieLogWriter} from "../../support/chains/trieLogWriter.ts";
import {parseGenesis} from "../../support/evm/genesisText.ts";
import {logLines} from "../../support/nodes/trieLogLines.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {sampleOf} from "../../support/soak.ts";
import {importHere, importLines, importSource, openOwned} from "../../support/stores/importedStore.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";

const GENESIS = fileURLToPath(import.meta.resolve("#package/demo/genesis.json"));
const CHAIN = fileURLToPath(import.meta.resolve("#package/demo/chain.rlp"));

/** By then an account was deleted, another was created again, and slots were zeroed. */
const LAST = 46;

const folder = new WorkFolder();
let executed: BlockDifference[];
let demo: LoggedBlock[];
before(async () => {
  executed = [];
  demo = [];
  const writer = new TrieLogWriter();
  for await (const block of executeChain(await readFile(GENESIS, "utf8"), await readFile(CHAIN), LAST)) {
    executed.push(block);
    const {number, hash} = block.header;
    demo.push({number, hash, trieLog: writer.write(block)});
  }
});

/** Block 0 first. @param chainRlp - blocks as `geth export` writes them, from block 1 on. @param to - the last block to execute */
async function* executeChain(
  genesisText: string,
  chainRlp: Uint8Array,
  to: number,
): AsyncGenerator<BlockDifference> {
  const genesis = parseGenesis(genesisText);
  const {executor, difference} = await BlockExecutor.start(
    {
      forks: genesis.forks,
      store: new MemoryTries(),
      blockHash: () => undefined,
    },
    genesis,
  );
  yield difference;
  const chunks = (async function* () {
    yield chainRlp;
  })();
  for await (const {bytes} of readRlpBlocks(chunks, new AbortController().signal)) {
    const block = await executor.execute(bytes);
    yield block;
    if (block.header.number === to) return;
  }
}

/** Packs it if the name ends so. @returns the path */
async function writeLogs(name: string, text: string): Promise<string> {
  const path = folder.file(name);
  await writeFile(path, name.endsWith(".gz") ? gzipSync(text) : text);
  return path;
}

// Of sha256 only where it does not soak.
for (const suite of sampleOf(SUITE_NAMES, 2))
  test(`${suite}: the demo chain's trie logs give its state roots, packed with the genesis file, or as digits without it`, async () => {
    const [begun, whole] = [folder.file(`begun-${suite}`), folder.file(`whole-${suite}`)];
    const packed = await writeLogs("demo.trielogs.gz", encodeJsonLines(demo));
    const digits = await writeLogs("demo.trielogs", encodeHexLines(demo));
    const importLogs = (db: string, path: string, ...flags: readonly string[]) =>
      runHere(["import", "--db", db, "--allow-unverified", "--trielogs", path, ...flags]);
    const first = await importLogs(begun, packed, "--suite", suite, "--genesis", GENESIS);
    assert.match(
      first.stdout,
      /^imported 47 blocks; the store has blocks 0 to 46, none is finalized;/,
      first.stderr,
    );
    const last = await importLogs(whole, digits, "--suite", suite, "--finalized", "last");
    assert.match(
      last.stdout,
      /^imported 47 blocks; the store has blocks 0 to 46, finalized up to 46;/,
      last.stderr,
    );
    const roots = await applyBlocks(folder.file(`executed-${suite}`), suite, executed);
    assert.equal(roots.length, LAST + 1);
    assert.deepEqual(await readStoredRoots(begun), roots);
    assert.deepEqual(await readStoredRoots(whole), roots);
    const again = await importLogs(begun, packed);
    assert.match(again.stdout, /^imported 0 blocks, 47 already in the store;/, again.stderr);
  });

/** The state roots of the blocks as they were executed. */
async function applyBlocks(
  directory: string,
  suite: string,
  blocks: readonly BlockDifference[],
): Promise<string[]> {
  const store = await openOwned(directory, suite);
  try {
    const writer = await BlockWriter.create(store);
    for (const block of blocks) await writer.apply(block);
    await writer.flush();
  } finally {
    await store.close();
  }
  return readStoredRoots(directory);
}

const ADDRESS = `0x${"ab".repeat(20)}`;
const hashOf = (number: number): string => `0x${(number + 1).toString(16).padStart(64, "0")}`;
const line = (number: number, balance: string): DifferenceLine => ({
  number: `0x${number.toString(16)}`,
  hash: hashOf(number),
  accounts: {[ADDRESS]: {balance, storage: {"0x1": balance}}},
});

test("a trie log whose old values are not those of the store is refused, and the blocks before it are kept", async () => {
  const db = folder.file("mismatch");
  await importLines(db, [line(0, "0x5")]);
  const logs = await logLines([line(0, "0x5"), line(1, "0x6"), line(2, "0x7"), line(3, "0x8")]);
  const others = await logLines([line(0, "0x5"), line(1, "0x6"), line(2, "0x9"), line(3, "0x8")]);
  const importLogs = async (name: string, text: string): Promise<ImportOutcome> =>
    importHere(["--db", db, "--allow-unverified", "--trielogs", await writeLogs(name, text)]);
  const refused = await importLogs("others", encodeJsonLines([...logs.slice(1, 3), ...others.slice(3)]));
  assert.equal(
    refused.ok ? "" : refused.message,
    `line 3: block 3: account ${ADDRESS}: balance before the block: the source says 0x9, the store has 0x7`,
  );
  assert.deepEqual([refused.blocks, refused.head.latest], [2, 2]);
  const right = await importLogs("right", encodeHexLines(logs));
  assert.deepEqual([right.ok && right.alreadyStored, right.blocks, right.head.latest], [3, 1, 3]);
});

test("a line that is no trie log is refused with its number and the reason", async () => {
  const logs = await logLines([line(0, "0x5"), line(1, "0x6"), line(2, "0x7")]);
  const [first, second, third] = logs as [LoggedBlock, LoggedBlock, LoggedBlock];
  const start = encodeHexLines([first]);
  const fields = {blockNumber: 1, blockHash: toHex(second.hash), trieLog: toHex(second.trieLog)};
  const cases: readonly [string, RegExp][] = [
    [encodeHexLines([third]), /line 2: expected block 1 next, got block 2\n/],
    [
      `${toHex(second.trieLog).slice(0, -2)}\n`,
      /line 2: trie log, byte 0: the trie log: an item is longer than what holds it\n/,
    ],
    [
      `${toHex(second.trieLog)}zz\n`,
      /line 2: expected pairs of hex digits, or an object .*: digit \d+ is wrong\n/,
    ],
    ["{]\n", /line 2: it is not JSON: /],
    [
      JSON.stringify({...fields, blockNumber: 7}),
      /line 2: blockNumber is 7, but the trie log is of block 1\n/,
    ],
    [
      JSON.stringify({...fields, blockNumber: "0x7"}),
      /line 2: blockNumber is 7, but the trie log is of block 1\n/,
    ],
    [
      JSON.stringify({...fields, blockHash: hashOf(8)}),
      /line 2: blockHash is 0x0+9, but the trie log is of 0x0+2\n/,
    ],
    [
      JSON.stringify({...fields, blockHash: undefined}),
      /line 2: blockHash: expected 32 bytes.*, got nothing/,
    ],
    [JSON.stringify({...fields, trieLog: null}), /line 2: trieLog: expected at most \d+ bytes .*, got null/],
  ];
  for (const [i, [rest, message]] of cases.entries()) {
    const db = folder.file(`refused-${i}`);
    const path = await writeLogs(`refused-${i}.trielogs`, start + rest);
    const refused = await importSource(db, {kind: "trielogs", path, genesisPath: undefined});
    assert.match(refused.ok ? "" : `${refused.message}\n`, message);
    assert.equal(refused.head.latest, 0);
  }
});

test("trie logs of another chain than the genesis file's are refused", async () => {
  const path = await writeLogs("other.trielogs", encodeJsonLines(await logLines([line(0, "0x5")])));
  const refused = await importSource(folder.file("other"), {kind: "trielogs", path, genesisPath: GENESIS});
  assert.equal(
    refused.ok ? "" : refused.message,
    "line 1: block 0 of the trie logs is not the genesis file's block",
  );
});
