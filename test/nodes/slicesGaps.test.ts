/**
 * What a store of slices lacks, and how it goes on: gaps, reorganisations, and contracts that come and go. Beside a geth that
 * prunes, against another that keeps all states. The tests run in this order on one chain.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {
  CREATED,
  CREATION,
  DOOMED,
  FEW,
  MANY,
  NONE,
  OTHER,
  quantity,
  SlicedChain,
  word,
} from "../support/chains/slicedChain.ts";
import {readReadiness} from "../support/http/followingDaemon.ts";
import {ForgetfulNode} from "../support/http/forgetfulNode.ts";
import {readLog} from "../support/http/nodeFollower.ts";
import {OwnService} from "../support/http/ownService.ts";
import {isSoak, propertyRuns} from "../support/soak.ts";

const START = 5;
/** DOOMED removes itself before it. */
const FORKS = {cancun: 40, prague: 41, osaka: 42};
/** geth keeps 128. */
const WINDOW = 140;
const MISSED = "proofd_slice_missed_blocks";
const RETRIES = "proofd_import_retries_total";
const MISSED_LINE = "blocks cannot be proved: the node no longer had their states";
const REPLACED_LINE =
  "the node's chain was reorganised: the blocks above the common ancestor were removed, those of the new branch are read";
const BEGUN_LINE =
  "the node's chain was reorganised below the first block of the slices: they begin again at its head";
const ALL = [MANY, FEW, NONE];
const ALL_DEPTHS = Array.from({length: 32}, (_, i) => i + 1);

let sliced: SlicedChain;
let daemon: OwnService;
/** Beside the archive node. */
let short: ForgetfulNode;
/** First and last block of each. */
const gaps: [number, number][] = [];

before(async () => {
  sliced = await SlicedChain.create(FORKS, START);
  short = await ForgetfulNode.before(sliced.archive.url);
});

after(async () => {
  await daemon?.stop();
  await short?.stop();
  await sliced?.chain.stop();
});

/** Starts the service with these contracts. */
async function start(
  contracts: readonly string[],
  flags: readonly string[] = [],
  db = "slices.db",
): Promise<void> {
  const node = flags.includes("--l2") ? [] : ["--l2", sliced.pruned.url];
  daemon = await OwnService.serve([
    ...[
      "--slice-fetches",
      "10000",
      "--db",
      sliced.chain.file(db),
      "--contracts",
      contracts.join(","),
      "--finality",
      "tag",
      ...node,
    ],
    ...flags,
  ]);
}

async function assertProved(block: number, contract: string, slots: readonly number[] = []): Promise<void> {
  assert.equal(await sliced.compare(daemon, block, contract, slots.map(word)), undefined);
}

/** Coverage, capabilities, readiness and the metric say which blocks are missing, and calls at them why. */
async function assertGaps(first: number): Promise<void> {
  const ranges = gaps
    .toReversed()
    .reduce<[number, number][]>(
      ([[from, to] = [0, 0], ...later], [gapFrom, gapTo]) => [[from, gapFrom - 1], [gapTo + 1, to], ...later],
      [[first, sliced.height]],
    );
  const {result: coverage} = await daemon.call("chain_getCoverage", []);
  assert.deepEqual(
    coverage.ranges,
    ranges.toReversed().map(range => range.map(quantity)),
  );
  const {result: capabilities} = await daemon.call("eth_capabilities", []);
  assert.deepEqual(capabilities.stateproofs, {
    disabled: false,
    oldestBlock: quantity(first),
    gaps: gaps.map(gap => gap.map(quantity)),
  });
  const [, ready] = await readReadiness(daemon);
  const named = gaps.map(([from, to]) => `${from} to ${to}`).join(", ");
  assert.match(ready, new RegExp(`gaps of the slices: the states of blocks ${named} were not recorded`));
  const missed = gaps.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  assert.equal(await daemon.readMetric(MISSED), missed);
  for (const [from, to] of gaps)
    for (const block of [from, to]) {
      const refusal = (await sliced.compare(daemon, block, MANY, [])) as string;
      assert.match(refusal, new RegExp(`block ${quantity(block)} is in a gap of the slices`));
      assert.match(refusal, new RegExp(`block ${quantity(from - 1)} and block ${quantity(to + 1)}`));
    }
}

/** The last gap ends where the node's states begin. @returns the first block after it */
async function noteGap(from: number): Promise<number> {
  const line = readLog(daemon, MISSED_LINE).at(-1) as {from: number; to: number};
  assert.equal(line.from, from);
  assert.ok(
    line.to > sliced.height - WINDOW && line.to < sliced.height - 100,
    `${line.to} of ${sliced.height}`,
  );
  gaps.push([line.from, line.to]);
  return line.to + 1;
}

test("a contract that does not exist yet is proved absent, then created, and one that removes itself is proved absent", async () => {
  await start([MANY, FEW, NONE, DOOMED, CREATED]);
  await sliced.follow(daemon);
  await sliced.seal(3);
  await sliced.chain.seal({
    transactions: [
      {from: 1, data: CREATION},
      sliced.store(DOOMED, [
        [1, 5],
        [9, 4],
      ]),
    ],
  });
  const created = sliced.height;
  await sliced.seal(2);
  await sliced.chain.seal({transactions: [{to: DOOMED}, {from: 1, to: CREATED}]});
  const removed = sliced.height;
  await sliced.seal(2);
  await sliced.follow(daemon);
  for (let block = START; block <= sliced.height; block++) {
    await assertProved(block, CREATED, block < created ? [] : [3, 4]);
    await assertProved(block, DOOMED, block >= removed ? [1, 9, 77] : [1, 9]);
  }
  assert.equal(
    (await sliced.archive.request<{nonce: string}>("eth_getProof", CREATED, [], quantity(created))).nonce,
    "0x1",
  );
  assert.equal(
    (await sliced.archive.request<{nonce: string}>("eth_getProof", DOOMED, [], quantity(removed))).nonce,
    "0x0",
  );
});

test("a contract that is left out keeps its blocks, and one that is added is proved from then on", async () => {
  const {height} = sliced;
  await daemon.stop();
  await start([MANY, FEW, NONE, `${OTHER}:whole`]);
  await sliced.seal(4);
  await sliced.follow(daemon);
  await assertProved(height, CREATED, [3]);
  await assertProved(height + 1, OTHER, [1, 2, 3, 99]);
  assert.match((await sliced.compare(daemon, height, OTHER, [])) as string, /not in the store/);
  assert.match((await sliced.compare(daemon, height + 1, CREATED, [])) as string, /not in the store/);
  await daemon.stop();
  await start([MANY, FEW, NONE, `${CREATED}:whole`]);
  await sliced.seal(30);
  await sliced.follow(daemon);
  await assertProved(sliced.height, CREATED, [3, 5]);
  assert.match((await sliced.compare(daemon, sliced.height, OTHER, [])) as string, /not in the store/);
});

test("blocks whose states the node lost while the service was away are a gap, which everything names", async () => {
  const {height} = sliced;
  assert.ok((await sliced.compareRandomly(daemon, propertyRuns(100), START)) > 0);
  const before = new Set(sliced.written);
  await daemon.stop();
  await sliced.seal(WINDOW + 20);
  await start([MANY, FEW, NONE]);
  await sliced.follow(daemon);
  const from = await noteGap(height + 1);
  await assertGaps(START);
  await sliced.compareRandomly(daemon, propertyRuns(50), START, height, before);
  for (const contract of [MANY, FEW, NONE])
    for (const block of [from, from + 1, sliced.height]) await assertProved(block, contract);
  sliced.written.clear();
  await sliced.seal(20);
  await sliced.follow(daemon);
  assert.ok((await sliced.compareRandomly(daemon, propertyRuns(100), sliced.height - 19)) > 0);
  await daemon.stop();
  await start([MANY, FEW, NONE]);
  await sliced.follow(daemon);
  await assertGaps(START);
});

for (const depth of isSoak() ? ALL_DEPTHS : [1, 5, 32])
  test(`the newest ${depth} blocks are replaced`, async () => {
    const first = sliced.height + 1;
    await sliced.replace(daemon, depth);
    assert.deepEqual(
      readLog(daemon, REPLACED_LINE)
        .map(({ancestor}) => ancestor)
        .at(-1),
      first - 1,
    );
    await sliced.follow(daemon);
    assert.ok((await sliced.compareRandomly(daemon, propertyRuns(3 * depth), first)) > 0);
    await assertGaps(START);
  });

test("blocks down to before the first one are replaced: the store begins again", async () => {
  await daemon.stop();
  for (let i = 0; i < 4; i++) await sliced.chain.seal(sliced.planBlock());
  await start(ALL, [], "below.db");
  await sliced.waitFor(daemon);
  await sliced.replace(daemon, 6, 4);
  const first = sliced.height;
  assert.equal(readLog(daemon, BEGUN_LINE).length, 1);
  sliced.written.clear();
  await sliced.seal(5);
  await sliced.follow(daemon);
  const {result: coverage} = await daemon.call("chain_getCoverage", []);
  assert.deepEqual(coverage.ranges, [[quantity(first), quantity(sliced.height)]]);
  await sliced.compareRandomly(daemon, propertyRuns(30), first);
  for (const contract of ALL) await assertProved(first, contract);
});

test("the common ancestor is in a gap: what is above the gap's start is read again, even below the finalized block", async () => {
  const kept = sliced.height;
  await daemon.stop();
  await start(ALL, ["--l2", short.url], "short.db");
  await sliced.follow(daemon);
  await daemon.stop();
  for (let i = 0; i < 40; i++) await sliced.chain.seal(sliced.planBlock());
  short.firstState = sliced.height - 10;
  await start(ALL, ["--l2", short.url], "short.db");
  await sliced.waitFor(daemon);
  await sliced.replace(daemon, 20, 0);
  await sliced.chain.finalize(kept + 5);
  await daemon.until("a finalized block in the gap", () => daemon.stderr.includes(`"finalized":${kept + 5}`));
  const {result} = await daemon.call("eth_getProof", [MANY, [], "finalized"]);
  assert.deepEqual(result, await sliced.archive.request("eth_getProof", MANY, [], quantity(kept)));
  short.firstState = sliced.height - 10;
  await sliced.replace(daemon, sliced.height - (kept + 8), 0);
  const gap = readLog(daemon, MISSED_LINE).map(({from, to}) => [from, to]);
  assert.deepEqual(gap.at(-1), [kept + 1, short.firstState - 1]);
  sliced.written.clear();
  await sliced.seal(10);
  await sliced.follow(daemon);
  await sliced.compareRandomly(daemon, propertyRuns(50), sliced.height - 9);
  gaps.splice(0, gaps.length, [kept + 1, short.firstState - 1]);
  await assertGaps(kept);
});

test("an import that fails in a gap, and a restart there, leave one gap", async () => {
  const kept = sliced.height;
  await daemon.stop();
  await sliced.seal(60);
  short.firstState = sliced.height - 10;
  short.refused = kept + 30;
  await start(ALL, ["--l2", short.url], "short.db");
  await daemon.until("an attempt after a failure", async () => (await daemon.readMetric(RETRIES)) > 0);
  await daemon.stop();
  await start(ALL, ["--l2", short.url], "short.db");
  await daemon.until("an attempt after a failure", async () => (await daemon.readMetric(RETRIES)) > 0);
  short.refused = -1;
  await sliced.follow(daemon);
  gaps.push([kept + 1, short.firstState - 1]);
  await assertGaps(readLog(daemon, MISSED_LINE).length === 1 ? (gaps[0] as [number, number])[0] - 1 : -1);
  for (const contract of ALL) await assertProved(sliced.height, contract);
});

test("all slots of a contract are stored before and after a gap, and need no node", async () => {
  await daemon?.stop();
  await start([`${MANY}:whole`, `${NONE}:whole`], ["--l2", short.url], "whole.db");
  // All slots after a block are those before the next one.
  const reason = new RegExp(`once there is block ${sliced.height + 1}, which the node does not have yet`);
  await daemon.until("the reason", () => reason.test(daemon.stderr));
  await daemon.until("the first block", async () => {
    await sliced.seal(1);
    return (await daemon.call("chain_getCoverage")).result !== undefined;
  });
  await sliced.follow(daemon);
  const before = sliced.height;
  await daemon.stop();
  await sliced.seal(30);
  short.firstState = sliced.height - 10;
  await start([`${MANY}:whole`, `${NONE}:whole`], ["--l2", short.url], "whole.db");
  await sliced.seal(10);
  await sliced.follow(daemon);
  await short.stop();
  for (const block of [before, sliced.height - 5, sliced.height])
    for (let slot = 0; slot < 1700; slot += 100) {
      const slots = Array.from({length: 100}, (_, i) => slot + i);
      await assertProved(block, MANY, slots);
      await assertProved(block, NONE, slots.slice(0, 3));
    }
  await daemon.stop();
});

test("an archive node fills what the node lost, and begins with an older block", async () => {
  short = await ForgetfulNode.before(sliced.archive.url);
  const flags = ["--l2", short.url, "--l2-archive", sliced.archive.url];
  await start(ALL, flags, "archive.db");
  await sliced.follow(daemon);
  const first = sliced.height;
  const oldest = Math.max(START, first - 150);
  await daemon.stop();
  sliced.written.clear();
  await sliced.seal(40);
  short.firstState = sliced.height - 10;
  await start(ALL, flags, "archive.db");
  await sliced.follow(daemon);
  assert.equal(await daemon.readMetric(MISSED), 0);
  await sliced.compareRandomly(daemon, propertyRuns(100), first);
  await daemon.stop();

  const old = ["--l2", sliced.pruned.url, "--l2-archive", sliced.archive.url, "--slice-from", `${oldest}`];
  await start(ALL, old, "old.db");
  await sliced.follow(daemon);
  const {result: coverage} = await daemon.call("chain_getCoverage", []);
  assert.deepEqual(coverage.ranges, [[quantity(oldest), quantity(sliced.height)]]);
  await sliced.compareRandomly(daemon, propertyRuns(100), oldest);
  await daemon.stop();
  await start(ALL, [...old.slice(0, 5), `${oldest - 1}`], "old.db");
  await daemon.until("the refusal", () => /older blocks cannot be added to it/.test(daemon.stderr));
});
