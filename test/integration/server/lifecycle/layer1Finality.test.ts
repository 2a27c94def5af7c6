/** What the rollup contract on a real layer 1 (anvil) says is finalized here: which blocks and roots count. */
import assert from "node:assert/strict";
import type {DifferenceLine} from "../../../support/chains/differenceLine.ts";
import {rootOf} from "../../../support/chains/finalityEvents.ts";
import {ACCOUNTS, createLine, createLines, hashOfBlock} from "../../../support/chains/serviceLines.ts";
import {Upstream} from "../../../support/http/upstream.ts";
import {createLayer1Test, type FollowedFinality} from "../../../support/layer1/followedFinality.ts";
import {checkStore} from "../../../support/stores/checkedStore.ts";

const layer1Test = createLayer1Test();

layer1Test(
  "events of both kinds finalize their blocks once layer 1 is final, and a restart goes on there",
  12,
  async it => {
    await it.contract.finalizeOld(2, it.root(0), it.root(2));
    await it.finalize(3, 4);
    await it.contract.settle();
    it.start();
    await it.finalizedAt(4);
    await it.logged(/"root":"suite".*the contract holds the roots of --l1-root suite/);
    await it.finalize(5, 7);
    await it.contract.settle();
    await it.finalizedAt(7);
    await it.finalize(8, 9);
    await it.contract.settle();
    await it.restart();
    await it.finalizedAt(9);
    assert.deepEqual(it.ends, [2, 4, 7, 9]);
    assert.equal(it.store.engine.chain.finalizations.readLayer1()?.root, "suite");
    assert.deepEqual((await checkStore(it.store.directory)).found, []);
  },
);

layer1Test(
  "a contract that goes over to block hashes is followed on, and a hash of another block stops finality",
  14,
  async it => {
    const hash = (block: number) => Buffer.from(hashOfBlock(block).slice(2), "hex");
    await it.finalize(1, 3);
    await it.contract.finalizeHash(4, 5, Buffer.alloc(32), hash(5));
    await it.contract.settle();
    // No node of layer 2 is asked about a block whose hash layer 1 has.
    it.start();
    await it.finalizedAt(5);
    await it.logged(/the contract holds block hashes now: each is compared/);
    await it.contract.finalizeHash(6, 7, hash(5), hash(7));
    await it.contract.settle();
    await it.restart({root: "none"}, undefined, ["http://127.0.0.1:0"]);
    await it.finalizedAt(7);
    assert.deepEqual(it.status.describe(false), []);
    assert.doesNotMatch(it.log, /holds block hashes now/);
    await it.contract.finalizeHash(8, 9, hash(7), hash(10));
    await it.contract.settle();
    await it.logged(/finality has stopped/);
    assert.match(it.status.reason, /up to block 9 .* has block hash 0x\w+, but block 9 has 0x\w+ here$/);
    assert.equal(it.finalized, 7);
    assert.deepEqual(it.ends, [3, 5, 7]);
    assert.deepEqual((await checkStore(it.store.directory)).found, []);
  },
);

layer1Test(
  "a finalization waits until its last block is stored, and is recorded as soon as it is",
  9,
  async it => {
    await it.finalize(1, 3);
    await it.finalize(4, 6);
    await it.finalize(7, 8);
    await it.contract.settle();
    await it.store.engine.writes.rollback(4);
    it.start();
    await it.finalizedAt(3);
    await it.logged(/"block":6,.*a finalized block is not in the store yet/);
    assert.equal(it.status.known, 8);
    await it.store.mustImport(createLines(0, 9));
    await it.finalizedAt(8);
    assert.deepEqual(it.ends, [3, 6, 8]);
  },
);

/** Block `number` of the branch that leaves the first one after block 5. */
function otherLine(number: number): DifferenceLine {
  const hashOf = (block: number): string => hashOfBlock(block > 5 ? 1000 + block : block);
  const line = createLine(number);
  return {
    ...line,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    accounts: {...line.accounts, [ACCOUNTS[0] as string]: {balance: "0x77"}},
  };
}

layer1Test(
  "a block of the number that layer 1 finalized, of another branch, is not finalized until its own branch is stored",
  5,
  async it => {
    const own = [6, 7, 8, 9].map(otherLine);
    await it.store.mustImport(own);
    const [five, seven, nine] = [it.root(5), it.root(7), it.root(9)];
    await it.store.engine.writes.rollback(5);
    await it.store.mustImport(createLines(0, 9));
    await it.finalize(1, 5);
    await it.contract.finalize(6, 7, five, seven);
    await it.contract.finalize(8, 9, seven, nine);
    await it.contract.settle();
    it.start();
    await it.logged(/finality has stopped/);
    const wrong = `up to block 7 .* has state root 0x${Buffer.from(seven).toString("hex")}, but block 7 has 0x${Buffer.from(it.root(7)).toString("hex")} in the trees here`;
    assert.match(it.status.reason, new RegExp(wrong));
    assert.equal(it.finalized, 5);
    await it.store.engine.writes.rollback(5);
    await it.store.mustImport(own);
    await it.finalizedAt(9);
    await it.logged(/finality continues after a stop/);
  },
);

layer1Test(
  "a root that is neither the header's nor the trees' finalizes nothing unless finality is by number",
  9,
  async it => {
    await it.finalize(1, 3, rootOf(3));
    await it.contract.settle();
    it.start();
    await it.logged(/finality has stopped/);
    assert.match(
      it.status.reason,
      /but block 3 has no root in its header and 0x\w+ in the trees here \(set --l1-root/,
    );
    assert.equal(it.status.isByNumber, false);
    assert.match(it.log, /layer 1 contradicts the store; it is read again from its beginning/);
    assert.doesNotMatch(it.log, /recorded/);
    await it.restart({root: "none"});
    await it.finalizedAt(3);
    assert.deepEqual(it.status.describe(false), ["finality is by block number: no state root is compared"]);
    assert.equal(it.store.engine.chain.finalizations.readLayer1()?.root, undefined);
  },
);

/** A node of layer 2 that answers eth_getBlockByNumber. @param hashOf - undefined: it does not have the block; throws: HTTP 500 */
async function withLayer2(
  hashOf: (block: number) => string | undefined,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const node = new Upstream();
  node.handler = ({call: {id, params}}, response) => {
    const number = Number(params[0]);
    let hash: string | undefined;
    try {
      hash = hashOf(number);
    } catch {
      response.writeHead(500).end();
      return;
    }
    const result = hash === undefined ? null : {number: params[0], hash, parentHash: hashOfBlock(number - 1)};
    response.writeHead(200, {"content-type": "application/json"});
    response.end(JSON.stringify({jsonrpc: "2.0", id, result}));
  };
  await node.start();
  try {
    await work(node.url.href);
  } finally {
    await node.stop();
  }
}

layer1Test("by number, every node of layer 2 that has the block must have the stored one", 9, async it => {
  let isBack = false;
  const other = (block: number) => hashOfBlock(isBack ? block : 100 + block);
  const behind = (block: number) => (block > 3 ? undefined : hashOfBlock(block));
  await withLayer2(hashOfBlock, good =>
    withLayer2(other, bad =>
      withLayer2(behind, late => {
        const urls = [good, bad, late];
        return followWith(it, urls, () => {
          isBack = true;
        });
      }),
    ),
  );
});

async function followWith(it: FollowedFinality, layer2: readonly string[], heal: () => void): Promise<void> {
  await it.contract.finalize(1, 5);
  await it.contract.settle();
  it.start({root: "none"}, undefined, layer2);
  await it.logged(/finality has stopped/);
  assert.match(
    it.status.reason,
    /another branch: block 5 has hash 0x\w+ here, but 0x\w+ at the layer-2 node/,
  );
  assert.equal(it.finalized, -1);
  heal();
  await it.finalizedAt(5);
}

layer1Test("by number, a node of layer 2 that does not answer once is waited for", 9, async it => {
  let failures = 1;
  const other = (block: number): string => {
    if (failures-- > 0) throw new Error("once");
    return hashOfBlock(100 + block);
  };
  await withLayer2(other, good =>
    withLayer2(hashOfBlock, async stale => {
      await it.contract.finalize(1, 5);
      await it.contract.settle();
      it.start({root: "none"}, undefined, [good, stale]);
      const {origin} = new URL(good);
      const what = `waiting until layer 2 tells which finalized block it has: ${origin} does not answer`;
      await it.logged(new RegExp(`"block":5,.*${what}`));
      assert.equal(it.status.awaits, `block 5: ${what}`);
      await it.logged(/finality has stopped/);
      assert.match(
        it.status.describe(false).join("\n"),
        /^finality has stopped: .*another branch.*\nfinality is by block number/,
      );
      assert.equal(it.finalized, -1);
    }),
  );
});

layer1Test("where roots are compared, one node of layer 2 with the stored block is enough", 9, async it => {
  await withLayer2(hashOfBlock, good =>
    withLayer2(
      block => hashOfBlock(100 + block),
      async bad => {
        await it.finalize(1, 5);
        await it.contract.settle();
        it.start({}, undefined, [bad, good]);
        await it.finalizedAt(5);
      },
    ),
  );
});

layer1Test("an event about a block far above the head does not hold later ones back", 9, async it => {
  await it.finalize(1, 3);
  await it.contract.finalize(4, 1_000_000, it.root(3), rootOf(77));
  await it.contract.settle();
  it.start();
  await it.finalizedAt(3);
  await it.logged(/"block":1000000,.*a finalized block is not in the store yet/);
  await it.finalize(4, 6);
  await it.contract.settle();
  await it.finalizedAt(6);
  await it.logged(/a finalization up to block 1000000 does not count: a later one ends at block 6/);
  await it.finalize(7, 8);
  await it.contract.settle();
  await it.restart();
  await it.finalizedAt(8);
  assert.deepEqual(it.ends, [3, 6, 8]);
});
