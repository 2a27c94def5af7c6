/** geth's chain is reorganised under `execute` and `trace` at once. The tests run in this order on one chain. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {branchTraffic, ownAccount} from "../support/chains/engineTraffic.ts";
import {EngineFollowers} from "../support/http/engineFollowers.ts";
import {readReadiness, waitForMetric, waitForState} from "../support/http/followingDaemon.ts";
import {waitForHash} from "../support/http/nodeFollower.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {isSoak} from "../support/soak.ts";
import {checkStore} from "../support/stores/checkedStore.ts";

const DEEPEST = 32;
/** All of them in a soak. */
const DEPTHS = isSoak()
  ? Array.from({length: DEEPEST}, (_, at) => (at % 2 === 0 ? 1 + at / 2 : DEEPEST - (at - 1) / 2))
  : [1, 16, 31, 8, 3, 2, 32, 5];
/** By how many blocks the new branch is longer, in turn. */
const MORE = [4, 1, 3, -2];
/** Below every reorganisation but the last one. */
const FINALIZED = 4;
/** The deep reorganisations of the beginning are under shanghai, where contracts are deleted. */
const FORKS = {cancun: 38, prague: 40, osaka: 42};
const COUNTER = "proofd_source_reorganisations_total";

let chain: EngineChain;
let node: RealNode;
let followers: EngineFollowers;
let branches = 0;
let reorganisations = 0;

before(async () => {
  chain = await EngineChain.create(FORKS);
  node = await chain.addNode();
  for (const plan of branchTraffic(branches, DEEPEST + FINALIZED)) await chain.seal(plan);
  followers = await EngineFollowers.serve(chain, node);
  await followers.finalize(FINALIZED);
});

after(async () => {
  await followers?.stop();
  await chain?.stop();
});

/** Of another branch than before, in place of the newest `depth` blocks. */
function plansOf(depth: number, more = 0) {
  return branchTraffic(++branches, Math.max(1, depth + more), chain.height - depth >= FORKS.prague);
}

/** Waits for the new branch, to which so many reorganisations led. */
async function followedAfter(count: number): Promise<void> {
  reorganisations += count;
  await followers.follow();
  await followers.each(async ({daemon}) => assert.equal(await daemon.readMetric(COUNTER), reorganisations));
}

for (const depth of DEPTHS)
  test(`the newest ${depth} blocks are replaced by as many, by more, by fewer`, async () => {
    const more = MORE[DEPTHS.indexOf(depth) % MORE.length] as number;
    await chain.reorganise(depth, plansOf(depth, more));
    await followedAfter(1);
  });

test("the head falls and no other block comes: nothing is removed until one does", async () => {
  const {height} = chain;
  const held = chain.hashOf(height);
  await chain.reorganise(6);
  await followers.each(async ({daemon}) => {
    await waitForState(daemon, "waiting");
    assert.match(
      daemon.stderr,
      new RegExp(`its newest block is ${height - 6}, block ${height} is in the store`),
    );
    await waitForHash(daemon, height, held);
  });
  await chain.seal(plansOf(0)[0]);
  await followedAfter(1);
});

test("a second reorganisation comes while the branch of the first one is read", async () => {
  const depth = 20;
  const fork = 5;
  const first = await chain.reorganise(depth, plansOf(depth));
  await followedAfter(1);
  const ends = await chain.reorganise(fork, plansOf(fork, 2));
  await followedAfter(1);
  const third = await chain.restore(first);
  await followedAfter(1);
  // To the second branch and, when proofd has left the first one, to the third, which leaves the second in its midst.
  await chain.restore([...third.slice(0, depth - fork), ...ends]);
  await followers.each(({daemon}) => waitForMetric(daemon, `${COUNTER} ${reorganisations + 1}`));
  await chain.restore(third);
  await followers.follow();
  await followers.each(async ({daemon}) => {
    const more = (await daemon.readMetric(COUNTER)) - reorganisations;
    assert.ok(more === 1 || more === 2, `${more} reorganisations`);
  });
});

test("every touched account and slot is the node's, and so are all hashes", async () => {
  await followers.compare(Array.from({length: branches + 1}, (_, at) => ownAccount(at)));
});

test("another branch below what is finalized stops the import, until the node is back", async () => {
  const {height} = chain;
  const held = chain.hashOf(height);
  const replaced = await chain.reorganise(2, plansOf(2, 1));
  const reason = `the node ${node.url} is on another chain: its block ${height} is ${chain.hashOf(height)}, ours is ${held} and is finalized`;
  await followers.each(async ({daemon}) => {
    await waitForState(daemon, "failed");
    assert.deepEqual(await readReadiness(daemon), [503, `the import has failed: ${reason}\n`]);
    await waitForHash(daemon, height, held);
  });
  await chain.restore(replaced);
  await chain.seal();
  await followers.follow();
  await followers.each(async ({daemon, db}) => {
    await waitForState(daemon, "following");
    assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
    assert.deepEqual((await checkStore(db)).found, []);
  });
});
