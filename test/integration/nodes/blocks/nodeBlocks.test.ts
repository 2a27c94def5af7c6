/** A node with the demo chain is imported by execution: by debug_getRawBlock, and by eth_getBlockByNumber. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {parseGenesis} from "../../../../evm/execution/genesis.ts";
import {NodeFailure} from "../../../../nodes/rpc/node.ts";
import {toHex} from "../../../../storage/hex.ts";
import {StateStore} from "../../../../storage/stateStore.ts";
import {RawBlocks} from "../../../../workers/import/follow/rawBlocks.ts";
import {HttpNode} from "../../../support/chains/httpNode.ts";
import {WorkFolder} from "../../../support/chains/serviceChain.ts";
import {DEMO_GENESIS, DemoNode, type JsonBlock, readDemoBlocks} from "../../../support/nodes/demoNode.ts";
import {isSoak} from "../../../support/soak.ts";
import {importHere} from "../../../support/stores/importedStore.ts";

/** A block with several transactions and withdrawals. */
const BUSY = 40;
/** The chain's last. */
const LAST = 100;
/** A block with several transactions that is executed. */
const LIED_ABOUT = isSoak() ? BUSY : 21;
/** The last that is executed: each block costs 50 ms of processor time. */
const EXECUTED = LIED_ABOUT + 2;

type StoredBlock = readonly [hash: string, stateRoot: string];

let folder: WorkFolder;
/** The chain up to EXECUTED, imported from its file. */
let ofFile: readonly StoredBlock[];

before(async () => {
  folder = await WorkFolder.create();
  const blocks = folder.file("chain.rlp");
  const chain = (await readDemoBlocks()).slice(1, EXECUTED + 1);
  await writeFile(blocks, Buffer.concat(chain.map(block => block.serialize())));
  ofFile = await importInto("file.db", "--blocks", blocks);
});

after(() => folder.remove());

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

for (const [mode, method] of [
  ["raw", "debug_getRawBlock"],
  ["json", "eth_getBlockByNumber"],
] as const)
  test(`blocks of ${method} are those of the file to the byte`, async () => {
    const node = await DemoNode.start(mode);
    try {
      const {forks} = parseGenesis(await readFile(DEMO_GENESIS, "utf8"));
      const rawBlocks = new RawBlocks(forks, () => {});
      const read = await rawBlocks.read(new HttpNode(node.url), 1, LAST);
      assert.equal(node.blocks.length, LAST + 1);
      assert.deepEqual(
        read.map(({bytes}) => toHex(bytes)),
        node.blocks.slice(1).map(block => toHex(block.serialize())),
      );
      assert.ok((node.counts.get(method) ?? 0) >= LAST);
    } finally {
      await node.stop();
    }
  });

test("JSON blocks and the file give the same head and the same roots", async () => {
  const node = await DemoNode.start("json", EXECUTED);
  try {
    const ofNode = await importInto("json.db", "--l2", node.url);
    assert.equal(ofNode.at(-1)?.[0], toHex(node.blocks.at(-1)?.hash() ?? new Uint8Array(0)));
    assert.ok((node.counts.get("eth_getBlockByNumber") ?? 0) >= EXECUTED);
    assert.deepEqual(ofNode, ofFile);
  } finally {
    await node.stop();
  }
});

test("what nodes answer for a raw block above their head is no block, and is told which blocks otherwise", async () => {
  const node = await DemoNode.start("raw");
  try {
    const {forks} = parseGenesis(await readFile(DEMO_GENESIS, "utf8"));
    const rawBlocks = new RawBlocks(forks, () => {});
    const asked = new HttpNode(node.url);
    const refusal = {error: {code: -32000, message: "block not found"}};
    for (const absent of [{result: "0x"}, {result: null}, refusal]) {
      node.absent = absent;
      const read = await rawBlocks.read(asked, LAST - 1, LAST + 2);
      assert.deepEqual(
        read.map(({head}) => head.number),
        [LAST - 1, LAST],
      );
      assert.deepEqual(await rawBlocks.read(asked, LAST + 1, LAST + 2), []);
    }
    // As geth refuses blocks that --history.chain does not keep.
    node.absent = {error: {code: 4444, message: "pruned history unavailable"}};
    node.prunedTo = 2;
    await assert.rejects(rawBlocks.read(asked, 1, 3), {
      name: "NodeRefusal",
      code: 4444,
      message: "blocks 1 to 3: pruned history unavailable",
    });
  } finally {
    await node.stop();
  }
});

const LONG = `0x${"f".repeat(200_000)}`;
const LIES: readonly (readonly [title: string, lie: (block: JsonBlock) => void, reason: RegExp])[] = [
  [
    "without its last transaction",
    block => block.transactions.pop(),
    /its transactions have the root 0x[0-9a-f]{64}, its header names 0x/,
  ],
  ["with its transactions in another order", block => block.transactions.reverse(), /its transactions have/],
  [
    "with another value in a transaction",
    block => {
      block.transactions[0].value = "0x1234567";
    },
    /its transactions have the root/,
  ],
  ["without its withdrawals", ({withdrawals}) => withdrawals.splice(0), /its withdrawals have the root/],
  [
    "with another state root",
    block => {
      block.stateRoot = `0x${"12".repeat(32)}`;
    },
    /the node says that its hash is 0x[0-9a-f]{64}, but its header has the hash 0x[0-9a-f]{64}$/,
  ],
  [
    "with a hash of 100 kB",
    block => {
      block.hash = LONG;
    },
    /: hash: expected 32 bytes.*, got "0xf+\.\.\."/,
  ],
  [
    "with a gas price of 100 kB",
    block => {
      Object.assign(block.transactions[0], {gasPrice: LONG, maxFeePerGas: LONG});
    },
    /transactions\[0\] cannot be read/,
  ],
  [
    "with a timestamp beyond 64 bits",
    block => {
      block.timestamp = LONG.slice(0, 40);
    },
    /but its header has the hash/,
  ],
  [
    "with a transaction of an unknown type",
    block => {
      block.transactions[0].type = "0x7e";
    },
    /transactions\[0\] cannot be read/,
  ],
  [
    "that is another block",
    block => {
      block.number = "0x1";
    },
    /: expected block 40, got block 1$/,
  ],
];

test("a node that changes a JSON block is told which block and why, and its blocks are not taken", async () => {
  const node = await DemoNode.start("json");
  try {
    const {forks} = parseGenesis(await readFile(DEMO_GENESIS, "utf8"));
    const rawBlocks = new RawBlocks(forks, () => {});
    const asked = new HttpNode(node.url);
    for (const [title, lie, reason] of LIES) {
      node.changeJson = block => {
        if (Number(block.number) === BUSY) lie(block);
        return block;
      };
      await assert.rejects(rawBlocks.read(asked, BUSY - 1, BUSY + 1), error => {
        assert.ok(error instanceof NodeFailure, `${title}: ${error}`);
        assert.ok(error.message.startsWith(`${node.url}: eth_getBlockByNumber: `), error.message);
        assert.ok(error.message.includes(`block ${BUSY}`), error.message);
        assert.match(error.message, reason, title);
        assert.ok(error.message.length < 1000, `${title}: a message of ${error.message.length} characters`);
        return true;
      });
    }
  } finally {
    await node.stop();
  }
});

test("raw blocks that are cut, changed or another's are the node's fault", async () => {
  const node = await DemoNode.start("raw");
  try {
    const {forks} = parseGenesis(await readFile(DEMO_GENESIS, "utf8"));
    const rawBlocks = new RawBlocks(forks, () => {});
    const asked = new HttpNode(node.url);
    const other = toHex(node.blocks[BUSY + 5]?.serialize() ?? new Uint8Array(0));
    const lies: readonly (readonly [(block: string) => string, RegExp])[] = [
      [block => block.slice(0, -2), /expected a block, got other bytes|it is no block/],
      [block => block.slice(0, -1), /the answer is not bytes/],
      [() => "0xc0", /expected a block, got other bytes/],
      [() => other, /expected block 40, got block 45/],
      // In the last withdrawal's amount.
      [block => block.slice(0, -2) + (block.endsWith("00") ? "01" : "00"), /its withdrawals have the root/],
    ];
    for (const [lie, reason] of lies) {
      node.changeRaw = (block, number) => (number === BUSY ? lie(block) : block);
      await assert.rejects(rawBlocks.read(asked, BUSY - 1, BUSY + 1), error => {
        assert.ok(error instanceof NodeFailure, String(error));
        assert.match(error.message, reason);
        return true;
      });
    }
  } finally {
    await node.stop();
  }
});

test("where one node leaves out a transaction, the import goes on with the other node", async () => {
  const [liar, honest] = await Promise.all([DemoNode.start("json"), DemoNode.start("raw")]);
  try {
    liar.changeJson = block => {
      if (Number(block.number) === LIED_ABOUT) block.transactions.pop();
      return block;
    };
    const urls = `${liar.url},${honest.url}`;
    const ofNodes = await importInto("liar.db", "--l2", urls, "--to", `${EXECUTED}`);
    assert.deepEqual(ofNodes, ofFile, "raw blocks give them, too");
    assert.ok((honest.counts.get("debug_getRawBlock") ?? 0) > 0);
  } finally {
    await Promise.all([liar.stop(), honest.stop()]);
  }
});
