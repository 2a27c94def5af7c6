/** Why a service is not ready: every reason, none hidden by another. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {FinalityStatus} from "../../../../server/observe/finalityStatus.ts";
import {PublishStatus} from "../../../../server/observe/publishStatus.ts";
import {Readiness, type ReadinessSources} from "../../../../server/observe/readiness.ts";
import {SourceStatus} from "../../../../server/observe/sourceStatus.ts";
import {PrunedBlocks} from "../../../../storage/prune/prunedBlocks.ts";
import {META} from "../../../../storage/record/layout.ts";
import {ChainView} from "../../../../workers/chain/chainView.ts";
import {createBlock, WrittenStore} from "../../../support/stores/writtenStore.ts";

/** Whose chain is the test's, with nothing wrong but what the test says. */
function create(sources: Partial<ReadinessSources>): Readiness {
  return new Readiness({
    chain,
    damage: {tableFindings: 0},
    threads: () => [],
    source: undefined,
    finality: undefined,
    publishing: undefined,
    maxFinalityLagSeconds: undefined,
    ...sources,
  });
}

const FAILED = "the import has failed: block 11 is refused";

let store: WrittenStore;
let chain: ChainView;
let source: SourceStatus;
beforeEach(async () => {
  store = await WrittenStore.create(10);
  const {reader} = store.host;
  const head = {earliest: 0, finalized: undefined, latest: 10};
  chain = new ChainView(reader, head, await PrunedBlocks.read(reader), undefined);
  source = new SourceStatus("l2");
  source.state = "failed";
  source.reason = "block 11 is refused";
});
afterEach(() => store.close());

test("a failed import is named although the store has no finalized block", () => {
  const readiness = create({source});
  assert.deepEqual(readiness.readObstacles(), ["the store has no finalized block", FAILED]);
  chain.setHead({...chain.head(), finalized: 3});
  assert.deepEqual(readiness.readObstacles(), [FAILED]);
  source.state = "following";
  assert.deepEqual(readiness.readObstacles(), []);
});

test("damage, a failed import and an old newest block are three reasons", t => {
  t.mock.timers.enable({apis: ["Date"], now: 1_000_000});
  chain.setHead({...chain.head(), finalized: 3});
  source.receivedMs = Date.now() - 9_500;
  const readiness = create({damage: {tableFindings: 2}, source});
  const lag = "the newest block, 10, is 9 s old: asked for at most 5 s (state of the source: failed)";
  assert.deepEqual(readiness.readObstacles({block: undefined, lagSeconds: 5}), [
    "a table of the store is damaged",
    FAILED,
    lag,
  ]);
});

test("finality that has not risen for --max-finality-lag is a reason, by the block's time or since it was finalized", async t => {
  const block = createBlock(11, 1);
  await store.apply({...block, header: {...block.header, timestamp: 970n}});

  t.mock.timers.enable({apis: ["Date"], now: 1_000_000});
  chain.setHead({...chain.head(), finalized: 3});
  source.state = "following";
  const readiness = create({source, maxFinalityLagSeconds: 60});
  t.mock.timers.tick(60_000);
  assert.deepEqual(readiness.readObstacles(), []);
  t.mock.timers.tick(1_000);
  const lag = "the newest finalized block, 3, is 61 s old: --max-finality-lag is 60 s";
  assert.deepEqual(readiness.readObstacles(), [lag]);
  chain.setHead({...chain.head(), finalized: 4});
  assert.deepEqual(readiness.readObstacles(), []);
  chain.setHead({...chain.head(), latest: 11, finalized: 11});
  assert.deepEqual(readiness.readObstacles(), [lag.replace("3, is 61", "11, is 91")]);
});

test("nodes that are not up, what finality waits for, and unverified blocks are remarks", async () => {
  for (const block of [11, 12]) await store.apply(createBlock(block, 1), false);
  chain.setHead({...chain.head(), latest: 12});
  const unverified = "unverified: blocks 11 to 12, no header or finalization commits to their state";
  const finality = new FinalityStatus("l1");
  const readiness = create({source, finality});
  assert.deepEqual(readiness.readRemarks(), [unverified]);
  source.nodes.set("http://a:1", {state: "down", reason: "connection refused"});
  finality.nodes.set("http://a:1", {state: "down", reason: "time-out"});
  finality.nodes.set("http://b:1", {state: "refused", reason: "expected a node of chain 5, got chain 6"});
  finality.isByNumber = true;
  const remarks = [
    "the node http://a:1 is down: connection refused",
    "the node http://b:1 is refused: expected a node of chain 5, got chain 6",
    "finality is by block number: no state root is compared",
    unverified,
  ];
  assert.deepEqual(readiness.readRemarks(), remarks);
  finality.state = "waiting";
  finality.awaits = "block 5";
  assert.deepEqual(readiness.readRemarks(), remarks.toSpliced(2, 0, "finality is waiting: block 5"));
  await store.store.db.put(META.unverified, Buffer.alloc(10));
  assert.equal(readiness.readRemarks().at(-1), unverified.replace("11", "0"));
});

test("work that no thread does is a reason, and a thread of several is none", () => {
  chain.setHead({...chain.head(), finalized: 3});
  source.state = "following";
  const up = {kind: "proof", state: "up", reason: ""} as const;
  const down = {kind: "proof", state: "down", reason: "no memory"} as const;
  const idle = {kind: "import", state: "off", reason: "it ended"} as const;
  assert.deepEqual(create({source, threads: () => [up, down, idle]}).readObstacles(), []);
  assert.deepEqual(create({source, threads: () => [down, down, idle]}).readObstacles(), [
    "no proof thread is up: no memory",
  ]);
});

test("lines for the public name no host: they say what has happened, not why", () => {
  const cause = "http://node.internal:8545: connection refused";
  const finality = new FinalityStatus("l1");
  const publishing = new PublishStatus();
  Object.assign(publishing, {reason: cause, snapshotFailure: cause});
  source.reason = cause;
  source.nodes.set("http://node.internal:8545", {state: "down", reason: cause});
  const down = {kind: "proof", state: "down", reason: cause} as const;
  const readiness = create({source, finality, publishing, threads: () => [down]});
  const asked = {block: undefined, lagSeconds: 1};
  const publicLines = [
    "the store has no finalized block",
    "no proof thread is up",
    "the import has failed",
    "a node is down",
    "publishing is waiting",
    "no snapshot for replicas can be uploaded",
  ];
  const read = (isPublic: boolean) => [
    ...readiness.readObstacles(undefined, isPublic),
    ...readiness.readRemarks(isPublic),
  ];
  assert.deepEqual(read(true), publicLines);
  assert.equal(read(false).filter(line => line.endsWith(cause)).length, 5);
  Object.assign(finality, {state: "stopped", reason: cause});
  assert.ok(read(true).includes("finality has stopped"));
  Object.assign(finality, {state: "waiting", awaits: cause});
  assert.ok(read(true).includes("finality is waiting"));
  for (const state of ["behind", "waiting"] as const) {
    source.state = state;
    source.receivedMs = Date.now() - 9_500;
    assert.match(readiness.readObstacles(asked, false).join(), /node\.internal/);
    assert.doesNotMatch(readiness.readObstacles(asked, true).join(), /node\.internal/);
  }
});
