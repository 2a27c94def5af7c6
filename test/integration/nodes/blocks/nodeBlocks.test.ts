/** Blocks of a node with the demo chain, by debug_getRawBlock and by eth_getBlockByNumber. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, afterEach, before, test} from "node:test";
import {listHeaderFields} from "../../../../nodes/blocks/nodeHeader.ts";
import {type Node, NodeFailure} from "../../../../nodes/rpc/node.ts";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {toHex} from "../../../../storage/hex.ts";
import {encodeList} from "../../../../storage/rlp/rlpWriter.ts";
import {StateStore} from "../../../../storage/stateStore.ts";
import {RawBlocks} from "../../../../workers/import/follow/executeReader.ts";
import {callNode} from "../../../support/chains/httpNode.ts";
import {WorkFolder} from "../../../support/chains/serviceChain.ts";
import {parseGenesis} from "../../../support/evm/genesisText.ts";
import {DEMO_GENESIS, DemoNode, type JsonBlock, readDemoBlocks} from "../../../support/nodes/demoNode.ts";
import {isSoak} from "../../../support/soak.ts";
import {importHere} from "../../../support/stores/importedStore.ts";

/** A block with several transactions and withdrawals. */
const BUSY = 40;
const LAST = 100;
/** A block with several transactions that is executed. */
const LIED_ABOUT = isSoak() ? BUSY : 21;
/** The last that is executed: each block costs 50 ms of processor time. */
const EXECUTED = LIED_ABOUT + 2;

type StoredBlock = readonly [hash: string, stateRoot: string];

const folder = new WorkFolder();
let raw: DemoNode;
let json: DemoNode;
let rawBlocks: RawBlocks;

before(async () => {
  [raw, json] = await Promise.all([DemoNode.start("raw"), DemoNode.start("json")]);
  rawBlocks = new RawBlocks(parseGenesis(await readFile(DEMO_GENESIS, "utf8")).forks, () => {});
});

afterEach(() => {
  json.changeJson = block => block;
  raw.changeRaw = block => block;
});

after(() => Promise.all([raw.stop(), json.stop()]));

/** @returns the blocks from 0 on */
async function importInto(name: string, ...flags: readonly string[]): Promise<readonly StoredBlock[]> {
  const directory = folder.file(name);
  const outcome = await importHere(["--db", directory, "--genesis", DEMO_GENESIS, ...flags]);
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  try {
    assert.equal(await store.reader.latest(), EXECUTED);
    return Array.from({length: EXECUTED + 1}, (_, number) => {
      const {header, stateRoot} = store.reader.blockOrThrow(number);
      return [toHex(header.hash), toHex(stateRoot)] as const;
    });
  } finally {
    await store.close();
  }
}

/** What is read of the blocks around BUSY is the node's fault, and told in a short message. */
async function refuseBusy(node: Node, reason: RegExp, what = ""): Promise<void> {
  await assert.rejects(rawBlocks.read(node, BUSY - 1, BUSY + 1), error => {
    assert.ok(error instanceof NodeFailure, `${what}: ${error}`);
    assert.ok(error.message.startsWith(`${node.name}: `) && error.message.includes(`block ${BUSY}`));
    assert.match(error.message, reason, what);
    assert.ok(error.message.length < 1000, `${what}: a message of ${error.message.length} characters`);
    return true;
  });
}

test("blocks of both methods are those of the file to the byte, transactions of types 0, 1, 2 and 4", async () => {
  for (const [node, method] of [
    [raw, "debug_getRawBlock"],
    [json, "eth_getBlockByNumber"],
  ] as const) {
    const read = await rawBlocks.read(callNode(node.url), 1, LAST);
    assert.equal(node.blocks.length, LAST + 1);
    assert.deepEqual(
      read.map(({bytes}) => toHex(bytes)),
      node.blocks.slice(1).map(block => toHex(block.serialize())),
    );
    assert.ok((node.counts.get(method) ?? 0) >= LAST);
  }
  const types = new Set(json.blocks.flatMap(({transactions}) => transactions.map(({type}) => type)));
  assert.deepEqual([...types].sort(), [0, 1, 2, 4]);
});

test("what nodes answer for a raw block above their head is no block, and is told which blocks otherwise", async () => {
  const asked = callNode(raw.url);
  const refusal = {error: {code: -32000, message: "block not found"}};
  for (const absent of [{result: "0x"}, {result: null}, refusal]) {
    raw.absent = absent;
    const read = await rawBlocks.read(asked, LAST - 1, LAST + 2);
    assert.deepEqual(
      read.map(({head}) => head.number),
      [LAST - 1, LAST],
    );
    assert.deepEqual(await rawBlocks.read(asked, LAST + 1, LAST + 2), []);
  }
  // As geth refuses blocks that --history.chain does not keep.
  raw.absent = {error: {code: 4444, message: "pruned history unavailable"}};
  raw.prunedTo = 2;
  await assert.rejects(rawBlocks.read(asked, 1, 3), {
    name: "NodeRefusal",
    code: 4444,
    message: `blocks 1 to 3: ${raw.url} refuses debug_getRawBlock: pruned history unavailable (4444)`,
  });
  raw.prunedTo = -1;
});

const LONG = `0x${"f".repeat(200_000)}`;
/** What jsonBlock.test.ts refuses is not here again. */
const LIES: readonly (readonly [title: string, lie: (block: JsonBlock) => unknown, reason: RegExp])[] = [
  [
    "without its last transaction",
    block => block.transactions.pop(),
    /its transactions have the root 0x[0-9a-f]{64}, its header names 0x/,
  ],
  ["with its transactions in another order", block => block.transactions.reverse(), /its transactions have/],
  [
    "with another value in a transaction",
    ({transactions}) => Object.assign(transactions[0], {value: "0x1234567"}),
    /its transactions have the root/,
  ],
  ["without its withdrawals", ({withdrawals}) => withdrawals.splice(0), /its withdrawals have the root/],
  [
    "with a difficulty that its fork does not allow",
    block => {
      block.difficulty = "0x1";
      block.hash = toHex(keccak256(encodeList(listHeaderFields(block, ""))));
    },
    /block 40: it has difficulty 1, but osaka forbids one by its time$/,
  ],
  [
    "with a hash of 100 kB",
    block => Object.assign(block, {hash: LONG}),
    /: hash: expected 32 bytes.*, got "0xf+\.\.\."/,
  ],
  [
    "with a gas price of 100 kB",
    ({transactions}) => Object.assign(transactions[0], {gasPrice: LONG, maxFeePerGas: LONG}),
    /transactions\[0\]\.maxFeePerGas: expected/,
  ],
];

test("a node that changes a JSON block is told which block and why, and its blocks are not taken", async () => {
  for (const [title, lie, reason] of LIES) {
    json.changeJson = block => {
      if (Number(block.number) === BUSY) lie(block);
      return block;
    };
    await refuseBusy(callNode(json.url), reason, title);
  }
});

test("raw blocks that are cut, changed or another's are the node's fault", async () => {
  const other = toHex(raw.blocks[BUSY + 5]?.serialize() ?? new Uint8Array(0));
  const lies: readonly (readonly [(block: string) => string, RegExp])[] = [
    [block => block.slice(0, -2), /expected a block, got other bytes|it is not a block/],
    [block => block.slice(0, -1), /expected bytes/],
    [() => "0xc0", /expected a block, got other bytes/],
    [() => other, /expected block 40, got block 45/],
    // In the last withdrawal's amount.
    [block => block.slice(0, -2) + (block.endsWith("00") ? "01" : "00"), /its withdrawals have the root/],
  ];
  for (const [lie, reason] of lies) {
    raw.changeRaw = (block, number) => (number === BUSY ? lie(block) : block);
    await refuseBusy(callNode(raw.url), reason);
  }
});

test("where one node leaves out a transaction, the import goes on with the other node, to the file's roots", async () => {
  const file = folder.file("chain.rlp");
  const chain = (await readDemoBlocks()).slice(1, EXECUTED + 1);
  await writeFile(file, Buffer.concat(chain.map(block => block.serialize())));
  json.changeJson = block => {
    if (Number(block.number) === LIED_ABOUT) block.transactions.pop();
    return block;
  };
  raw.counts.clear();
  const ofNodes = await importInto("liar.db", "--l2", `${json.url},${raw.url}`, "--to", `${EXECUTED}`);
  assert.deepEqual(ofNodes, await importInto("file.db", "--blocks", file));
  assert.ok((raw.counts.get("debug_getRawBlock") ?? 0) > 0);
});
