/** Finality by the finalized tag of several layer-2 nodes: two must agree, and none may contradict. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {pino} from "pino";
import {type RunningFinality, startFinality} from "../../../../server/lifecycle/finality/finality.ts";
import {createLines, hashOfBlock} from "../../../support/chains/serviceLines.ts";
import {TaggedChain} from "../../../support/nodes/taggedChain.ts";
import {TemporaryStore} from "../../../support/stores/temporaryStore.ts";
import {waitUntil} from "../../../support/wait.ts";

const POLL_MS = 20;

interface Followed {
  readonly nodes: readonly [TaggedChain, TaggedChain, TaggedChain];
  /** With the first so many of the nodes. */
  start(count: number): RunningFinality["status"];
  readonly finalized: () => number;
}

/** A store of blocks 0 to 9, and three nodes that finalize nothing yet. */
async function follow(work: (followed: Followed) => Promise<void>): Promise<void> {
  const store = await TemporaryStore.filled(createLines(0, 9));
  const nodes = [new TaggedChain(), new TaggedChain(), new TaggedChain()] as const;
  for (const {upstream} of nodes) await upstream.start();
  let running: RunningFinality | undefined;
  try {
    await work({
      nodes,
      start(count) {
        const urls = nodes.slice(0, count).map(({upstream}) => upstream.url.href);
        const settings = {urls, headers: {}, timeoutMs: 10_000, maxAnswerBytes: 1 << 20};
        const options = {source: "tag", nodes: settings, pollMs: POLL_MS} as const;
        running = startFinality(options, store.engine, pino({level: "silent"}));
        return running.status;
      },
      finalized: () => store.engine.chain.head().finalized ?? -1,
    });
  } finally {
    await running?.stop();
    for (const {upstream} of nodes) await upstream.stop();
    await store.close();
  }
}

/** Questions go on, and nothing is finalized by their answers. */
async function asked({upstream}: TaggedChain): Promise<void> {
  const before = upstream.requests.length;
  await waitUntil("some more questions", () => upstream.requests.length > before + 4);
}

test("of two nodes both must call a block finalized, and the lower of their blocks counts", async () => {
  await follow(async ({nodes: [one, other], start, finalized}) => {
    one.finalized = 7;
    const status = start(2);
    await waitUntil("the second node to be waited for", () => status.state === "waiting");
    assert.match(
      status.awaits,
      /^waiting until 2 of 2 layer-2 nodes call a block finalized: http:\S+ does not answer/,
    );
    await asked(one);
    assert.equal(finalized(), -1);
    other.finalized = 4;
    await waitUntil("block 4 to be final", () => finalized() === 4);
    assert.equal(status.known, 4);
    other.finalized = 12;
    one.finalized = 11;
    await waitUntil("block 9 to be final, the newest stored one", () => finalized() === 9);
    assert.equal(status.known, 11);
    assert.equal(status.state, "following");
  });
});

test("a node with another block at the number that two call finalized stops finality, by its name", async () => {
  await follow(async ({nodes: [one, other, liar], start, finalized}) => {
    for (const node of [one, other]) node.finalized = 6;
    liar.hashOf = block => hashOfBlock(block > 4 ? 700 + block : block);
    liar.finalized = 3;
    const status = start(3);
    await waitUntil("the contradiction", () => status.state === "stopped");
    assert.match(
      status.reason,
      /^block 6 has hash 0x\w+ here, but 0x\w+ at the node http:\S+; block 6 is called finalized$/,
    );
    assert.ok(status.reason.includes(liar.upstream.url.origin));
    assert.equal(finalized(), -1);
    liar.hashOf = hashOfBlock;
    await waitUntil("block 6 to be final", () => finalized() === 6);
  });
});

test("one node alone finalizes nothing: neither by a tag that is ahead, nor while the others are down", async () => {
  await follow(async ({nodes: [one, other, third], start, finalized}) => {
    one.finalized = 9;
    other.finalized = 2;
    third.finalized = 1;
    const status = start(3);
    await waitUntil("block 2 to be final", () => finalized() === 2);
    await asked(one);
    assert.equal(finalized(), 2);
    await third.upstream.stop();
    other.finalized = 3;
    await waitUntil("block 3 to be final, without the third node", () => finalized() === 3);
    await other.upstream.stop();
    await waitUntil("the others to be waited for", () => status.state === "waiting");
    await asked(one);
    assert.equal(finalized(), 3);
    // `follow` stops all of them.
    await other.upstream.start();
    await third.upstream.start();
  });
});

test("a node that does not know the tag is no witness, and finality stops where no node knows it", async () => {
  await follow(async ({nodes: [one, other], start, finalized}) => {
    for (const node of [one, other]) node.refusal = {code: -32602, message: "unknown block tag"};
    const status = start(2);
    await waitUntil("the refusal", () => status.state === "stopped");
    assert.match(status.reason, /unknown block tag/);
    one.finalized = 5;
    await waitUntil("another witness to be waited for", () => status.state === "waiting");
    assert.match(status.awaits, /finalized: .*unknown block tag/);
    await asked(one);
    assert.equal(finalized(), -1);
  });
});
