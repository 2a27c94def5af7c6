/** Fetches of missing slots from a node that is a real HTTP server. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {pino} from "pino";
import {SlotFetcher} from "../../../../server/slices/slotFetcher.ts";
import type {ProvenSlots} from "../../../../storage/commit/provenSlots.ts";
import {toHex} from "../../../../storage/hex.ts";
import type {SlotsMissing} from "../../../../workers/messages/failure.ts";
import {type JsonRpcCall, JsonRpcServer} from "../../../support/nodes/jsonRpcServer.ts";
import {waitUntil} from "../../../support/wait.ts";

const SECRET = "secret-key";
const CLIENT = "192.0.2.1";
const ONE = `0x${"11".repeat(20)}`;
const OTHER = `0x${"22".repeat(20)}`;

let answer: (call: JsonRpcCall) => object | Promise<object>;
let asked: (readonly [address: unknown, slots: readonly string[], block: unknown])[];
let kept: ProvenSlots[];
let logged: string;
let node: JsonRpcServer;
let fetcher: SlotFetcher;

beforeEach(async () => {
  answer = proveAll;
  asked = [];
  kept = [];
  logged = "";
  node = new JsonRpcServer(call => {
    const [address, slots, block] = call.params as [string, string[], string];
    asked.push([address, slots, block]);
    return answer(call);
  });
  await node.start();
});

afterEach(async () => {
  await fetcher.close();
  await node.stop();
});

function create(perSecond: number): void {
  const settings = {
    urls: [node.url.replace("//", `//user:${SECRET}@`)],
    headers: {},
    timeoutMs: 3_600_000,
    maxAnswerBytes: 1 << 20,
  };
  const write = (line: string): void => {
    logged += line;
  };
  const log = pino({level: "warn"}, {write});
  const keep = (slots: readonly ProvenSlots[]): Promise<void> => {
    kept.push(...slots);
    return Promise.resolve();
  };
  fetcher = new SlotFetcher(settings, perSecond, keep, log);
}

/** A node whose hex is the slot's last byte. */
function proveAll({id, params}: JsonRpcCall): object {
  const storageProof = (params[1] as string[]).map(key => ({key, proof: [`0x${key.slice(-2)}`]}));
  return {jsonrpc: "2.0", id, result: {storageHash: textOf(1), storageProof}};
}

function miss(address: string, slots: readonly number[], block = 7): SlotsMissing {
  return {failure: "SLOTS_MISSING", detail: "", block, accounts: [{address, slots: slots.map(textOf)}]};
}

function textOf(slot: number): string {
  return `0x${slot.toString(16).padStart(64, "0")}`;
}

test("all slots of a contract are asked for in one request at the head, and each block gets its own", async () => {
  create(20);
  await fetcher.fetch([miss(ONE, [1, 2]), miss(ONE, [2, 3], 8)], CLIENT);
  assert.deepEqual(asked, [[ONE, [1, 2, 3].map(textOf), "latest"]]);
  const stored = kept.map(({block, accounts}) => [
    block,
    accounts.map(({address, slots}) => [toHex(address), slots.map(({proof}) => proof.map(toHex))]),
  ]);
  assert.deepEqual(stored, [
    [7, [[ONE, [["0x01"], ["0x02"]]]]],
    [8, [[ONE, [["0x02"], ["0x03"]]]]],
  ]);
  assert.deepEqual(fetcher.counts, {answered: 1, refused: 0, failed: 0});
});

test("fetches at the same time share a request for the same slots, and the next one of their contract for others", async () => {
  create(20);
  const releases: (() => void)[] = [];
  answer = call => new Promise(resolve => releases.push(() => resolve(proveAll(call))));
  const ask = (slots: readonly number[]) => fetcher.fetch([miss(ONE, slots)], CLIENT);
  const all = [[1], [2, 1]].map(ask);
  await waitUntil("the first request", () => releases.length === 1);
  all.push(...[[2], [3], [4, 1], [3]].map(ask));
  releases[0]?.();
  await waitUntil("the second request", () => releases.length === 2);
  releases[1]?.();
  await Promise.all(all);
  assert.deepEqual(
    asked.map(([, slots]) => slots),
    [[1, 2].map(textOf), [3, 4, 1].map(textOf)],
  );
  assert.equal(kept.length, 6);
});

test("a fetch beyond the budget is refused at once, until time has passed; each one without a budget", async t => {
  const beganMs = performance.now();
  let passedMs = 0;
  t.mock.method(performance, "now", () => beganMs + passedMs);
  create(2);
  const fetchOther = (contract: string) => fetcher.fetch([miss(contract, [1])], contract);
  assert.ok(fetchOther(ONE) instanceof Promise);
  assert.ok(fetchOther(OTHER) instanceof Promise);
  const third = `0x${"33".repeat(20)}`;
  passedMs = 499;
  assert.match(fetchOther(third) as string, /too many slots .*--slice-fetches/);
  passedMs = 501;
  const last = fetchOther(third);
  assert.ok(last instanceof Promise);
  t.mock.reset();
  await last;
  assert.equal(fetcher.counts.refused, 1);
  await fetcher.close();
  create(0);
  assert.match(fetcher.fetch([miss(ONE, [1])], CLIENT) as string, /--slice-fetches 0/);
});

test("one client may take half of the budget in a second, and others the rest", async t => {
  const beganMs = performance.now();
  let passedMs = 0;
  t.mock.method(performance, "now", () => beganMs + passedMs);
  create(8);
  const ask = (client: string, contract: number, slots = [1]) =>
    fetcher.fetch([miss(`0x${textOf(contract).slice(-40)}`, slots)], client);
  const many = Array.from({length: 300}, (_, slot) => slot);
  const made = [ask("greedy", 1), ask("greedy", 2, many)];
  assert.match(ask("greedy", 3) as string, /too many/);
  made.push(ask("modest", 3));
  passedMs = 1000;
  made.push(ask("greedy", 4));
  for (const fetch of made) assert.ok(fetch instanceof Promise);
  t.mock.reset();
  await Promise.all(made);
});

test("at most 16 contracts are asked for at the same time", async () => {
  create(1000);
  let release = (): void => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  answer = async call => {
    await held;
    return proveAll(call);
  };
  const fetches = Array.from({length: 17}, (_, i) =>
    fetcher.fetch([miss(`0x${textOf(i).slice(-40)}`, [1])], CLIENT),
  );
  assert.match(fetches[16] as string, /too many/);
  release();
  await Promise.all(fetches);
  assert.equal(asked.length, 16);
});

test("callers see nothing of a node that refuses or answers nonsense, and nothing is stored", async () => {
  const error = {code: -32601, message: `no method for ${SECRET}`};
  create(20);
  answer = ({id}) => ({jsonrpc: "2.0", id, error});
  const why = await fetcher.fetch([miss(ONE, [1])], CLIENT);
  assert.equal(why, "the node gave no proof of it in time; try again later");
  assert.deepEqual(kept, []);
  assert.deepEqual(fetcher.counts, {answered: 0, refused: 0, failed: 1});
  assert.match(logged, /"reason":"http:\/\/127[^"]* refuses eth_getProof: no method for /);
  assert.doesNotMatch(logged, new RegExp(SECRET));
});

for (const [name, result] of [
  ["fewer proofs than slots", {storageHash: textOf(1), storageProof: []}],
  [
    "a node that is too long for a trie",
    {storageHash: textOf(1), storageProof: [{proof: [`0x${"00".repeat(601)}`]}]},
  ],
] as const)
  test(`an answer with ${name} is none, and another node is asked`, async () => {
    const second = new JsonRpcServer(proveAll);
    await second.start();
    answer = ({id}) => ({jsonrpc: "2.0", id, result});
    const settings = {urls: [node.url, second.url], headers: {}, timeoutMs: 1, maxAnswerBytes: 1};
    fetcher = new SlotFetcher(settings, 20, async slots => void kept.push(...slots), pino({level: "silent"}));
    await fetcher.fetch([miss(ONE, [1])], CLIENT);
    await second.stop();
    assert.deepEqual(
      kept.map(({accounts}) => accounts[0]?.slots.map(({proof}) => proof.map(toHex))),
      [[["0x01"]]],
    );
  });
