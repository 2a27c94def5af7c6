/**
 * What slices cost beside a geth: bytes in the store, requests to the node, processor time, memory, the start. Prints a table,
 * and holds bytes and memory against the goals. SOAK=10 makes a chain of 200 000 accounts and a contract of 200 000 slots.
 *
 * Two geths get the same blocks, and proofd follows one of them: the difference of their processor time is what it costs.
 */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {loadavg} from "node:os";
import {after, before, test} from "node:test";
import {Level} from "level";
import {writeNumber, writeTable} from "../../bench/program/table.ts";
import {type BlockPlan, EngineChain} from "../support/chains/engineChain.ts";
import type {Sent} from "../support/chains/people.ts";
import {quantity, word} from "../support/chains/slicedChain.ts";
import {ForwardingProxy} from "../support/http/forwardingProxy.ts";
import {waitForHash} from "../support/http/nodeFollower.ts";
import {type Daemon, startDaemon} from "../support/processes/daemon.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {readProcessorSeconds} from "../support/run/processorTime.ts";
import {propertyRuns} from "../support/soak.ts";

/** Accounts of the chain, and slots of the large contract. */
const SIZE = propertyRuns(20_000);
const CONTRACTS = 50;
const SLOTS_OF_ONE = 1000;
/** Items that one block of the chain's beginning makes. */
const AT_ONCE = 40_000;
const TRANSFERS = 40;
/** Blocks after a start before processor times are read. */
const SETTLING = 3;
const BLOCKS = 20;

/** Stores so many numbers from the third word of its calldata on, at as many slots (second word) from the first word on. */
const FILLER = "0x6020355b8015601b576001900380604035018160003501556003565b00";
/** Pays one wei to so many addresses (second word) from the first word on. */
const PAYER_CODE = "0x6020355b8015601e57600190035f5f5f5f600185600035015ff1506003565b00";
const BIG = `0x${"b1".repeat(20)}`;
const PAYER = `0x${"b2".repeat(20)}`;
const SMALL = Array.from({length: CONTRACTS}, (_, i) => `0x${"b3".repeat(19)}${word(i).slice(-2)}`);
const FIRST_ACCOUNT = 1_000_000;

/** Blocks in which the state grows. The forks come after them: osaka has a limit for the gas of a transaction. */
const GROWTH = [
  ...spread(SIZE).map(([first, count]) => [fill(BIG, first, count, 7)]),
  ...spread(SIZE).map(([first, count]) => [
    {to: PAYER, data: words(FIRST_ACCOUNT + first, count), gas: 100_000n + 40_000n * BigInt(count)},
  ]),
  ...Array.from({length: 2}, (_, i) =>
    SMALL.slice(25 * i, 25 * i + 25).map(to => fill(to, 0, SLOTS_OF_ONE, 7)),
  ),
];
const FORKS = {cancun: GROWTH.length + 1, prague: GROWTH.length + 2, osaka: GROWTH.length + 3};

interface Figures {
  readonly startSeconds: number;
  /** Of keys and values, each block. */
  readonly bytes: number;
  /** Calls each block, by method. */
  readonly calls: ReadonlyMap<string, number>;
  /** Processor time for a block. */
  readonly followedMs: number;
  readonly aloneMs: number;
  readonly ownMs: number;
  readonly megabytes: number;
}

let chain: EngineChain;
let followed: RealNode;
let alone: RealNode;
let proxy: ForwardingProxy;
let unchangedBytes: number;
let seed = 1;
let written = 1;
const rows: string[][] = [];

before(async () => {
  const contracts = [BIG, ...SMALL].map(address => [address, {balance: "0x0", nonce: "0x1", code: FILLER}]);
  const payer = {balance: quantity(10 ** 9), nonce: "0x1", code: PAYER_CODE};
  const alloc = {...Object.fromEntries(contracts), [PAYER]: payer};
  chain = await EngineChain.create(FORKS, alloc, {gasLimit: quantity(8_000_000_000)});
  for (const transactions of GROWTH) await chain.seal({transactions});
  [followed, alone] = [
    await chain.copyNode(["--gcmode", "full"]),
    await chain.copyNode(["--gcmode", "full"]),
  ];
  await seal(5, () => []);
  proxy = await ForwardingProxy.to(followed.url);
  const state = [BIG, accountOf(SIZE - 1)].map(address => [address, [word(SIZE - 1)], "latest"]);
  const [big, account] = await Promise.all(
    state.map(params =>
      followed.request<{balance: string; storageProof: {value: string}[]}>("eth_getProof", ...params),
    ),
  );
  assert.equal(Number(big?.storageProof[0]?.value), 7 + ((SIZE - 1) % AT_ONCE));
  assert.equal(account?.balance, "0x1");
});

after(async () => {
  await proxy?.stop();
  await chain?.stop();
  const names = ["slices", "start", "bytes", "a slot", "calls", "geth alone", "followed", "proofd", "memory"];
  const geth = `${SIZE} accounts, ${SIZE} slots of one contract, ${TRANSFERS} transfers a block; load ${loadavg()[0]?.toFixed(1)}`;
  console.log(`${geth}\n${writeTable(names, rows, 1)}`);
});

test("a contract of which nothing changes", async () => {
  const figures = await measure("unchanged", [BIG], () => []);
  unchangedBytes = figures.bytes;
  note("a contract, nothing changed", figures);
  assert.ok(figures.bytes < 1250);
});

test("a large contract of which each block changes 200 slots", async () => {
  const figures = await measure("first", [BIG], () => [fill(BIG, random(SIZE - 200), 200, written++)]);
  note("200 changed slots, most for the first time", figures, 200);
});

test("the same with slots that have been written before", async () => {
  let at = 0;
  const change = () => [fill(BIG, (at++ % 10) * 200, 200, written++)];
  const figures = await measure("again", [BIG], change, 15);
  note("200 changed slots, written before", figures, 200);
  assert.ok((figures.bytes - unchangedBytes) / 200 < 300);
});

test("50 contracts, of which each block changes 100 slots of 25", async () => {
  const change = () =>
    Array.from({length: 25}, (_, i) => fill(SMALL[2 * i] as string, random(SLOTS_OF_ONE - 4), 4, written++));
  const figures = await measure("fifty", SMALL, change);
  note("50 contracts, 100 changed slots", figures);
});

/** Follows BLOCKS blocks. @param warmUp - blocks before them */
async function measure(
  name: string,
  contracts: readonly string[],
  change: () => Sent[],
  warmUp = 1,
): Promise<Figures> {
  const db = chain.file(`${name}.db`);
  const startMs = performance.now();
  const first = await serve(db, contracts);
  const params = [contracts[0], [], quantity(chain.height)];
  await first.until("the first block to be provable", async () => {
    return (await first.call("eth_getProof", params)).result !== undefined;
  });
  const startSeconds = (performance.now() - startMs) / 1000;
  await seal(warmUp, change, first);
  await first.stop();
  const before = await readBytes(db);
  const daemon = await serve(db, contracts);
  await seal(SETTLING, change, daemon);
  const pids = [followed.pid, alone.pid, daemon.child.pid as number];
  const starts = pids.map(pid => readProcessorSeconds(pid) as number);
  proxy.requests.length = 0;
  await seal(BLOCKS, change, daemon);
  const [followedMs = 0, aloneMs = 0, ownMs = 0] = pids.map(
    (pid, i) => (((readProcessorSeconds(pid) as number) - (starts[i] as number)) * 1000) / BLOCKS,
  );
  const calls = new Map<string, number>();
  for (const {method} of proxy.requests.flatMap(({call}) => call))
    calls.set(method, (calls.get(method) ?? 0) + 1 / BLOCKS);
  const status = readFileSync(`/proc/${daemon.child.pid}/status`, "utf8");
  const megabytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1000;
  await daemon.stop();
  const bytes = ((await readBytes(db)) - before) / (SETTLING + BLOCKS);
  assert.ok(megabytes < 300, `${megabytes} MB`);
  return {startSeconds, bytes, calls, followedMs, aloneMs, ownMs, megabytes};
}

function note(name: string, figures: Figures, slots?: number): void {
  const {startSeconds, bytes, calls, followedMs, aloneMs, ownMs, megabytes} = figures;
  const eachSlot = slots === undefined ? "" : writeNumber((bytes - unchangedBytes) / slots);
  const byMethod = [...calls].map(([method, count]) => `${count.toFixed(1)} ${method}`);
  console.log(`${name}: calls of a block: ${byMethod.join(", ")}`);
  const asked = [...calls.values()].reduce((sum, count) => sum + count, 0);
  const times = [aloneMs, followedMs, ownMs].map(ms => `${ms.toFixed(1)} ms`);
  rows.push([
    ...[name, `${startSeconds.toFixed(1)} s`, writeNumber(bytes), eachSlot, asked.toFixed(1)],
    ...[...times, `${megabytes.toFixed(0)} MB`],
  ]);
}

function serve(db: string, contracts: readonly string[]): Promise<Daemon> {
  return startDaemon([
    ...["--db", db, "--l2", proxy.url.origin, "--finality", "tag", "--contracts", contracts.join(",")],
  ]);
}

async function seal(blocks: number, change: () => Sent[], daemon?: Daemon): Promise<void> {
  for (let i = 0; i < blocks; i++) await chain.seal(planBlock(change()));
  await chain.finalize(chain.height);
  if (daemon !== undefined) await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
}

function planBlock(changes: readonly Sent[]): BlockPlan {
  const transfers = Array.from({length: TRANSFERS}, () => ({to: accountOf(random(SIZE)), value: 1n}));
  return {transactions: [...transfers, ...changes]};
}

/** Keys and values of all records of a store. */
async function readBytes(db: string): Promise<number> {
  const level = new Level<Buffer, Buffer>(db, {
    keyEncoding: "buffer",
    valueEncoding: "buffer",
    compression: false,
  });
  let bytes = 0;
  for await (const [key, value] of level.iterator()) bytes += key.length + value.length;
  await level.close();
  return bytes;
}

function fill(to: string, first: number, count: number, value: number): Sent {
  return {to, data: words(first, count, value), gas: 100_000n + 26_000n * BigInt(count)};
}

function words(...values: readonly number[]): Buffer {
  return Buffer.from(values.map(value => word(value).slice(2)).join(""), "hex");
}

function accountOf(position: number): string {
  return `0x${(position + FIRST_ACCOUNT).toString(16).padStart(40, "0")}`;
}

/** @returns first and count of parts of at most AT_ONCE */
function spread(count: number): [first: number, count: number][] {
  return Array.from({length: Math.ceil(count / AT_ONCE)}, (_, i) => [
    i * AT_ONCE,
    Math.min(AT_ONCE, count - i * AT_ONCE),
  ]);
}

/** Below `below`, the same in each run. */
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((seed / 0x80000000) * below);
}
