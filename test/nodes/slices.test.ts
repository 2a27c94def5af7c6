/**
 * Slices of a chain beside a geth that prunes, against another that keeps all states. The tests run in this order on one
 * chain.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import type {BlockPlan} from "../support/chains/engineChain.ts";
import {EngineChain} from "../support/chains/engineChain.ts";
import type {Sent} from "../support/chains/people.ts";
import {waitForHash} from "../support/http/nodeFollower.ts";
import {OwnService} from "../support/http/ownService.ts";
import type {RealNode} from "../support/processes/realNode.ts";

/** Stores pairs of a slot and a value from its calldata. */
const STORER = "0x60005b803611600b5700005b8060200135813555604001600256";
/** Many slots from the start, few, and none. */
const [MANY, FEW, NONE] = ["a1", "a2", "a3"].map(byte => `0x${byte.repeat(20)}`) as [string, string, string];
const CONTRACTS = [MANY, FEW, NONE];
/** Also in the state, but in no slice. */
const OTHER = `0x${"a4".repeat(20)}`;
const SLOTS = {[MANY]: 1500, [FEW]: 30, [NONE]: 0, [OTHER]: 10};
const ACCOUNTS = 2000;
const START = 5;

let chain: EngineChain;
let archive: RealNode;
let pruned: RealNode;
let daemon: OwnService;
let seed = 1;
/** Contracts and slots that blocks since the start wrote. */
const written = new Set<string>();

/** Below `below`, the same in each run. */
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((seed / 0x80000000) * below);
}

function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

function store(to: string, pairs: readonly (readonly [slot: number, value: number])[], from = 0): Sent {
  for (const [slot] of pairs) written.add(`${to} ${word(slot)}`);
  const data = Buffer.from(
    pairs
      .flat()
      .map(value => word(value).slice(2))
      .join(""),
    "hex",
  );
  return {from, to, data};
}

function makeAlloc(): object {
  const contracts = Object.entries(SLOTS).map(([address, slots]) => [
    address,
    {
      balance: "0x0",
      nonce: "0x1",
      code: STORER,
      storage: Object.fromEntries(Array.from({length: slots}, (_, i) => [word(i + 1), word(i + 7)])),
    },
  ]);
  const people = Array.from({length: ACCOUNTS}, (_, i) => [
    `0x${(i + 1_000_000).toString(16).padStart(40, "0")}`,
    {balance: "0x1"},
  ]);
  return Object.fromEntries([...contracts, ...people]);
}

/** Changes, deletions and new slots, with other accounts around them; or none. */
function planBlock(): BlockPlan {
  const transactions: Sent[] = [];
  for (let i = 0; i < 4; i++)
    transactions.push({to: `0x${(1_000_000 + random(ACCOUNTS)).toString(16).padStart(40, "0")}`, value: 1n});
  if (random(3) === 0)
    transactions.push(
      store(
        MANY,
        Array.from({length: 5}, () => [random(1600) + 1, random(3) * random(9999)] as const),
      ),
    );
  if (random(3) === 0)
    transactions.push(
      store(
        FEW,
        Array.from({length: 3}, () => [random(40) + 1, random(2) * random(9999)] as const),
      ),
    );
  if (random(4) === 0) transactions.push(store(NONE, [[random(12), random(2) * random(9999)]]));
  if (random(4) === 0) transactions.push(store(OTHER, [[random(12), 1 + random(9999)]]));
  return {transactions};
}

async function seal(blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) await chain.seal(planBlock());
  await follow();
}

async function follow(): Promise<void> {
  await chain.finalize(chain.height);
  await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
  await daemon.until("the newest block to be final", async () => {
    return (await daemon.call("chain_getStateRoot", [quantity(chain.height)])).result?.finalized === true;
  });
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

/** Compares a proof with the archive node's. @returns why the service refused it */
async function compare(
  block: number,
  contract: string,
  slots: readonly string[],
): Promise<string | undefined> {
  const params = [contract, slots, quantity(block)];
  const expected = await archive.request("eth_getProof", ...params);
  const {result, error} = await daemon.call("eth_getProof", params);
  if (error !== undefined) return error.message;
  assert.deepEqual(result, expected, `${params}`);
  return undefined;
}

async function compareRandomly(times: number, from: number, to = chain.height): Promise<void> {
  for (let i = 0; i < times; i++) {
    const contract = CONTRACTS[random(3)] as string;
    const slot = word(random(contract === MANY ? 1700 : 45));
    assert.equal(await compare(from + random(to - from + 1), contract, [slot]), undefined);
  }
}

before(async () => {
  chain = await EngineChain.create({cancun: 1, prague: 2, osaka: 3}, makeAlloc());
  archive = await chain.addNode(["--state.scheme", "hash"]);
  pruned = await chain.addNode(["--gcmode", "full"]);
  for (let block = 0; block < START; block++) await chain.seal(planBlock());
  await chain.finalize(START);
  written.clear();
  daemon = await serve("slices.db", ["--contracts", CONTRACTS.join(",")]);
});

after(async () => {
  await daemon?.stop();
  await chain?.stop();
});

function serve(db: string, flags: readonly string[]): Promise<OwnService> {
  const source = ["--l2", pruned.url, "--finality", "tag", "--slice-fetches", "10000"];
  return OwnService.serve(["--db", chain.file(db), ...source, ...flags]);
}

test("it begins at the node's head, without a genesis file, and proves the contracts' accounts there", async () => {
  await follow();
  for (const contract of CONTRACTS) assert.equal(await compare(START, contract, []), undefined);
  assert.match((await compare(START, OTHER, [])) as string, /not in the store/);
  const {ranges} = (await daemon.call("chain_getCoverage")).result;
  assert.deepEqual(ranges, [[quantity(START), quantity(chain.height)]]);
});

test("every slot is proved at every block as the archive node proves it, written since the start or not", async () => {
  await seal(60);
  await compareRandomly(400, START);
});

test("a slot that was fetched once is proved without the node, another one is refused", async () => {
  const unwritten = Array.from({length: 1700}, (_, slot) => word(slot)).filter(
    slot => !written.has(`${MANY} ${slot}`),
  );
  const [first, second] = [unwritten.slice(0, 100), unwritten.slice(-100)];
  assert.equal(await compare(START, MANY, first), undefined);
  await daemon.stop();
  daemon = await serve("slices.db", ["--slice-fetches", "0"]);
  for (const block of [START, START + 20, chain.height])
    assert.equal(await compare(block, MANY, first), undefined);
  assert.match((await compare(START, MANY, second)) as string, /is not in the store: .*--slice-fetches 0/);
});
