/** Blocks from a node's trie logs: the store that they lead to, and answers that are refused. */
import assert from "node:assert/strict";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {probeTrieLogs, TrieLogReader} from "../../../../nodes/blocks/trielogs/trieLogReader.ts";
import type {Node} from "../../../../nodes/rpc/node.ts";
import {NodeCaller} from "../../../../nodes/rpc/nodeCaller.ts";
import {BlockWriter} from "../../../../storage/commit/blockWriter.ts";
import {toHex} from "../../../../storage/hex.ts";
import {StateStore} from "../../../../storage/stateStore.ts";
import type {DifferenceLine} from "../../../support/chains/differenceLine.ts";
import {createMixedLine} from "../../../support/chains/mixedLines.ts";
import {type LogElement, TrieLogNode} from "../../../support/nodes/trieLogNode.ts";
import {ReferenceState} from "../../../support/reference/referenceState.ts";
import {memoisedSha256} from "../../../support/stores/everyKey.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const BLOCKS = 70;
const LINES = Array.from({length: BLOCKS}, (_, n) => createMixedLine(n));

const folder = makeTemporaryFolder();
let server: TrieLogNode;
let lines: DifferenceLine[];
let caller: NodeCaller;
let node: Node;
before(async () => {
  ({node: server, lines} = await TrieLogNode.start(LINES));
  const settings = {headers: {}, timeoutMs: 60_000, maxAnswerBytes: 64 << 20, connections: 4};
  caller = new NodeCaller(server.url, settings, () => {});
  node = caller.bind(new AbortController().signal);
});
after(async () => {
  await caller.close();
  await server.stop();
});

test("a node's trie logs give the chain's roots though its ranges leave out their last block", async () => {
  server.isOpenEnded = true;
  const reader = new TrieLogReader(5n);
  const state = new ReferenceState(memoisedSha256, lines);
  const directory = join(folder, "db");
  const store = await StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20});
  try {
    const writer = await BlockWriter.create(store);
    for (let from = 0; from < BLOCKS; ) {
      const blocks = await reader.read(node, from, from + reader.maxBlocks - 1);
      assert.equal(blocks.length, Math.min(reader.maxBlocks, BLOCKS - from));
      for (const block of blocks) {
        assert.ok(block.bytes < 40_000, `${block.bytes} bytes`);
        await writer.apply(await block.difference());
      }
      from += blocks.length;
    }
    await writer.flush();
    assert.equal(writer.chain?.chainId, 5n);
    for (const [block, {hash}] of lines.entries()) {
      const {header, stateRoot} = store.reader.blockOrThrow(block);
      assert.equal(toHex(stateRoot), toHex(state.stateRoot(block)), `block ${block}`);
      assert.equal(toHex(header.hash), hash);
      assert.equal(header.timestamp, 1_700_000_000n + BigInt(block));
    }
    assert.deepEqual(await reader.read(node, BLOCKS, BLOCKS + 3), [], "the node has no more");
  } finally {
    await store.close();
    server.isOpenEnded = false;
  }
});

test("of a node whose ranges include their last block, the one too many is left out", async () => {
  server.ranges.length = 0;
  assert.equal((await new TrieLogReader(undefined).read(node, 4, 6)).length, 3);
  assert.deepEqual(server.ranges, [[4, 7]]);
});

test("a node shows whether it has trie logs", async () => {
  assert.equal(await probeTrieLogs(node), true);
  server.hasPlugin = false;
  assert.equal(await probeTrieLogs(node), false);
  await assert.rejects(new TrieLogReader(undefined).read(node, 0, 1), {name: "NodeRefusal", code: -32601});
  server.hasPlugin = true;
});

const change =
  (fields: (log: LogElement) => object) =>
  (logs: LogElement[]): unknown =>
    logs.map(log => (log.blockNumber === 5 ? {...log, ...fields(log)} : log));
const WRONG: readonly (readonly [changed: (logs: LogElement[]) => unknown, message: RegExp])[] = [
  [() => null, /^shomei_getTrieLogsByRange: expected an array, got null$/],
  [logs => [...logs, ...logs], /asked for blocks 4 to 8, the node sent 10 trie logs$/],
  [logs => logs.toSpliced(1, 1), /the node has block 5, but sent the trie log of block 6 instead$/],
  [logs => logs.slice(0, 2), /^the node has block 6, but not its trie log$/],
  [logs => logs.filter(log => log.blockNumber < 7), /^the node has block 7, but not its trie log$/],
  [logs => logs.toReversed(), /the node has block 4, but sent the trie log of block 8 instead$/],
  [change(() => ({blockNumber: "0x9"})), /sent the trie log of block 9 instead$/],
  [
    change(() => ({blockHash: `0x${"12".repeat(32)}`})),
    /^trie log of block 5 is of the block 0x(?:12){32}, but its header is 0x/,
  ],
  [
    logs => change(() => ({trieLog: logs.find(log => log.blockNumber === 6)?.trieLog}))(logs),
    /^trie log of block 5 is of the block 0x[0-9a-f]{64}, but its header is 0x/,
  ],
  [
    change(({trieLog}) => ({trieLog: trieLog.slice(0, -8)})),
    /^trie log, byte 0: the trie log: an item is longer than/,
  ],
  [change(() => ({trieLog: "0xzz"})), /^trie log of block 5: trieLog: expected at most.*, got "0xzz"/],
];

test("trie logs that are missing, in another order, or another block's are the node's failure", async () => {
  for (const [changed, message] of WRONG) {
    server.changeLogs = changed;
    await assert.rejects(new TrieLogReader(undefined).read(node, 4, 7), {name: "NodeFailure", message});
  }
  server.changeLogs = logs => logs;
});

test("a header that is not what its hash says is the node's failure", async () => {
  server.changeHeader = header => (header.number === "0x5" ? {...header, timestamp: "0x1"} : header);
  try {
    const message = /^block 5: the node says that its hash is 0x/;
    await assert.rejects(new TrieLogReader(undefined).read(node, 4, 7), {name: "NodeFailure", message});
  } finally {
    server.changeHeader = header => header;
  }
});
