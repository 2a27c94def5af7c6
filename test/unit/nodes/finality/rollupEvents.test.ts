/** The events of a rollup contract: what is read from a node's answer, and which answers are of no use. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {type RollupEvent, readRollupEvents} from "../../../../nodes/finality/rollupEvents.ts";
import {type Node, NodeFailure} from "../../../../nodes/rpc/node.ts";

const CONTRACT = Buffer.alloc(20, 0xab);
const V3 = "0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb";
const V4 = `0x${Buffer.from(keccak_256(Buffer.from("DataFinalizedV4(uint256,uint256,bytes32,uint256,bytes32,bytes32)"))).toString("hex")}`;
const OLD = "0x1335f1a2b3ff25f07f5fef07dd35d8fb4312c3c73b138e2fad9347b3319ab53c";

type Log = Record<string, unknown>;

function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

const NEWER: Log = {
  address: `0x${"AB".repeat(20)}`,
  topics: [V3, word(5), word(9), word(77)],
  data: `${word(4)}${word(9).slice(2)}`,
  blockNumber: "0x65",
  blockHash: word(1),
  transactionHash: word(2),
  logIndex: "0x3",
  removed: false,
};
const OLDER: Log = {
  ...NEWER,
  topics: [OLD, word(4), word(1), word(4)],
  data: word(1),
  blockNumber: "0x64",
  logIndex: "0x7",
};

const BY_HASH: Log = {
  ...NEWER,
  topics: [V4, word(10), word(12), word(78)],
  data: `${word(55)}${word(0).slice(2)}${word(12).slice(2)}`,
  blockNumber: "0x66",
};

const LAST = {number: "0xc8", hash: word(200), parentHash: word(199)};

async function read(answer: unknown): Promise<readonly RollupEvent[]> {
  const node: Node = {
    name: "http://node",
    request: () => Promise.reject(new Error("not asked for")),
    requestAll(calls) {
      const filter = {
        address: `0x${"ab".repeat(20)}`,
        topics: [[V4, V3, OLD]],
        fromBlock: "0x64",
        toBlock: "0xc8",
      };
      assert.deepEqual(calls, [
        {method: "eth_getBlockByNumber", params: ["0xc8", false]},
        {method: "eth_getLogs", params: [filter]},
      ]);
      return Promise.resolve([LAST, answer]);
    },
  };
  return (await readRollupEvents(node, CONTRACT, 100, 200)).events;
}

test("events of all kinds are read in the order of layer 1", async () => {
  const [older, newer, byHash, ...more] = await read([OLDER, NEWER, BY_HASH]);
  assert.deepEqual(more, []);
  const shared = {
    layer1Hash: Buffer.from(word(1).slice(2), "hex"),
    transactionHash: Buffer.from(word(2).slice(2), "hex"),
  };
  assert.deepEqual(older, {
    ...shared,
    startBlock: undefined,
    endBlock: 4,
    names: "stateRoot",
    parent: Buffer.from(word(1).slice(2), "hex"),
    final: Buffer.from(word(4).slice(2), "hex"),
    layer1Block: 100,
    logIndex: 7,
  });
  assert.deepEqual(newer, {
    ...shared,
    startBlock: 5,
    endBlock: 9,
    names: "stateRoot",
    parent: Buffer.from(word(4).slice(2), "hex"),
    final: Buffer.from(word(9).slice(2), "hex"),
    layer1Block: 101,
    logIndex: 3,
  });
  assert.deepEqual(byHash, {
    ...shared,
    startBlock: 10,
    endBlock: 12,
    names: "blockHash",
    parent: Buffer.alloc(32),
    final: Buffer.from(word(12).slice(2), "hex"),
    layer1Block: 102,
    logIndex: 3,
  });
  assert.deepEqual(await read([]), []);
});

test("events of the first and the last block of the range, with the largest numbers, are read", async () => {
  const topics = [V3, word(5), word(2 ** 48 - 1), word(77)];
  const last = {...NEWER, topics, blockNumber: "0xc8", logIndex: "0xffffffff"};
  const first = {...OLDER, logIndex: "0x0", removed: undefined};
  const [older, newer] = await read([first, last]);
  assert.deepEqual([older?.layer1Block, older?.logIndex], [100, 0]);
  assert.deepEqual([newer?.layer1Block, newer?.logIndex, newer?.endBlock], [200, 2 ** 32 - 1, 2 ** 48 - 1]);
});

test("an answer may have 10 000 events", async () => {
  const events = Array.from({length: 10_000}, (_, i) => ({...NEWER, logIndex: `0x${i.toString(16)}`}));
  assert.equal((await read(events)).length, 10_000);
});

const USELESS: readonly (readonly [answer: unknown, message: RegExp])[] = [
  [{}, /with no array/],
  [Array.from({length: 10_001}, () => NEWER), /10001 events, more than 10000/],
  [[null], /an event: expected an object, got null/],
  [[{...NEWER, address: word(1).slice(0, 42)}], /is of contract 0x00/],
  [[{...NEWER, topics: [word(1)]}], /of another kind/],
  [[{...NEWER, topics: undefined}], /of another kind/],
  [[{...NEWER, topics: {0: V3, length: 4}}], /of another kind/],
  [[{...NEWER, topics: [V3, word(1), word(2), word(3), word(4)]}], /expected 4 topics, got 5/],
  [[{...NEWER, topics: [V3, word(1), word(2)]}], /expected 4 topics, got 3/],
  [[{...NEWER, data: word(4)}], /the data of the event in block 101: expected 64 bytes/],
  [[{...NEWER, topics: [V3, word(5), word(2 ** 48), word(7)]}], /names block/],
  [[{...BY_HASH, data: NEWER.data}], /the data of the event in block 102: expected 96 bytes/],
  [[{...BY_HASH, topics: NEWER.topics}], /the data of the event in block 102: expected 64 bytes/],
  [[{...NEWER, removed: true}], /was removed/],
  [[{...NEWER, removed: "no"}], /was removed/],
  [[{...NEWER, logIndex: "0x100000000"}], /the place of .* 4294967296/],
  [[NEWER, {...NEWER, logIndex: "0x2"}], /out of order/],
  [[{...NEWER, blockNumber: "0x63"}], /of block 99 when asked for 100 to 200/],
  [[{...NEWER, blockNumber: "0xc9"}], /of block 201 when asked/],
  [[NEWER, OLDER], /out of order at block 100/],
  [[NEWER, NEWER], /out of order at block 101, 3/],
  [[{...NEWER, logIndex: 3}], /the place of the event in block 101: expected a number.*, got 3/],
];

test("an answer that is of no use is a failure of the node", async () => {
  for (const [answer, message] of USELESS)
    await assert.rejects(read(answer), error => {
      assert.ok(error instanceof NodeFailure);
      assert.match(error.message, message);
      return true;
    });
});
