/** geth and proofd are killed and come back, geth with fewer blocks. The tests run in this order on one chain. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {branchTraffic} from "../support/chains/engineTraffic.ts";
import {EngineFollowers} from "../support/http/engineFollowers.ts";
import {waitForState} from "../support/http/followingDaemon.ts";
import {waitForHash} from "../support/http/nodeFollower.ts";
import {type Daemon, startDaemon} from "../support/processes/daemon.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {readStoredRoots} from "../support/stores/storedRoots.ts";

/** `npm run test:soak` names the variable. */
const KILLS = Number(process.env.FOLLOW_KILLS ?? 2);
const FORKS = {cancun: 5, prague: 8, osaka: 11};
const FIRST_BLOCKS = 14;
/** Blocks whose states geth has not saved yet when it is killed. */
const LOST = 8;
/** Blocks that come while proofd does not run. */
const STEP = 4;
const COUNTER = "proofd_source_reorganisations_total";
const LATEST = 'proofd_head_block{which="latest"}';
const KILLED = "killed";

let chain: EngineChain;
let node: RealNode;
let followers: EngineFollowers;
let branches = 0;

before(async () => {
  chain = await EngineChain.create(FORKS);
  node = await chain.addNode();
  await grow(FIRST_BLOCKS);
  followers = await EngineFollowers.serve(chain, node);
});

after(async () => {
  await followers?.stop();
  await chain?.stop();
});

async function grow(count: number): Promise<void> {
  for (const plan of branchTraffic(branches++, count)) await chain.seal(plan);
}

/** Kills geth and starts it again. @returns its head then */
async function killNode(): Promise<number> {
  await node.kill();
  await followers.each(({daemon}) => waitForState(daemon, "waiting"));
  return restartNode();
}

async function restartNode(): Promise<number> {
  await node.restart();
  return Number(await node.request("eth_blockNumber"));
}

/** geth makes lost states again if it is told to go on from its own head. It may have lost blocks too. */
async function raise(fallen: number, to: number): Promise<void> {
  for (let number = fallen; number <= to; number++) await chain.tell(node, number, number);
}

function assertReorganisations(count: number): Promise<void> {
  return followers.each(async ({daemon}) => assert.equal(await daemon.readMetric(COUNTER), count));
}

test("geth stops and starts: its head is where it was", async () => {
  await node.stop();
  await followers.each(({daemon}) => waitForState(daemon, "waiting"));
  assert.equal(await restartNode(), chain.height);
  await grow(LOST);
  await followers.follow();
  await assertReorganisations(0);
});

test("geth is killed: its head falls, nothing is removed, and its next blocks come", async () => {
  const {height} = chain;
  const fallen = await killNode();
  assert.ok(fallen <= height - LOST, `${fallen}`);
  await followers.each(async ({daemon}) => {
    await daemon.waitForStderr(new RegExp(`its newest block is ${fallen}, block ${height} is in the store`));
    await waitForHash(daemon, height, chain.hashOf(height));
  });
  await raise(fallen, height);
  await grow(1);
  await followers.follow();
  await assertReorganisations(0);
});

test("geth is killed and comes back with another branch", async () => {
  const depth = 7;
  await raise(await killNode(), chain.height - depth);
  await chain.reorganise(depth, branchTraffic(branches++, depth - 1));
  await followers.follow();
  await assertReorganisations(1);
});

/** Runs `body` with a process by each source. None of them stops by itself. */
async function withProcesses(body: (daemons: readonly Daemon[]) => Promise<unknown>): Promise<void> {
  const starts = EngineFollowers.flags(chain, node, KILLED).map(([, flags]) => startDaemon(flags));
  const daemons = await Promise.all(starts);
  try {
    await body(daemons);
  } finally {
    for (const daemon of daemons) await daemon.stop("SIGKILL");
  }
}

/** Waits until this metric of each has this value or more. @param isKilled - the process is then killed at once */
async function reach(
  daemons: readonly Daemon[],
  metric: string,
  value: number,
  isKilled = true,
): Promise<void> {
  await Promise.all(
    daemons.map(async daemon => {
      await daemon.until(`${metric} ${value}`, async () => (await daemon.readMetric(metric)) >= value);
      if (isKilled) await daemon.stop("SIGKILL");
    }),
  );
}

for (let round = 0; round < KILLS; round++) {
  test(`proofd is killed while it catches up (${round})`, async () => {
    await grow(STEP);
    const held = round === 0 ? STEP : chain.height - STEP + 1;
    await withProcesses(daemons => reach(daemons, LATEST, held));
  });

  test(`proofd is killed while it changes to another branch (${round})`, () =>
    withProcesses(async daemons => {
      await reach(daemons, LATEST, chain.height, false);
      await chain.reorganise(6, branchTraffic(branches++, 7));
      // Once before it may have seen the branch, once when it has removed the other one.
      await reach(daemons, COUNTER, round % 2);
    }));
}

test("both are killed, and geth comes back with another branch", async () => {
  await withProcesses(async daemons => {
    await reach(daemons, LATEST, chain.height, false);
    await Promise.all([node.kill(), reach(daemons, LATEST, 0)]);
  });
  const depth = 4;
  await raise(await restartNode(), chain.height - depth);
  await chain.reorganise(depth, branchTraffic(branches++, depth - 1));
});

test("what was killed has the node's state, and the roots of what was not killed", async () => {
  const killed = await EngineFollowers.serve(chain, node, KILLED);
  await killed.compare([]);
  await killed.stop();
  await followers.follow();
  await followers.stop();
  const stores = ["undisturbed", KILLED].flatMap(name => EngineFollowers.flags(chain, node, name));
  const [roots, ...others] = await Promise.all(stores.map(([db]) => readStoredRoots(db)));
  assert.equal(roots?.length, chain.height + 1);
  for (const other of others) assert.deepEqual(other, roots);
  for (const [db] of stores) assert.deepEqual((await checkStore(db)).found, []);
});
