/** The bodies that a load sends. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {numberedAddress} from "../../../../load/requests/keys.ts";
import {Random} from "../../../../load/requests/random.ts";
import {RequestMaker, type RequestPlan} from "../../../../load/requests/requestMaker.ts";

const PAYERS = [`0x${"01".repeat(20)}`, `0x${"02".repeat(20)}`];
const CONTRACT = `0x${"03".repeat(20)}`;
const SLOTS = [1, 2, 3].map(slot => `0x${String(slot).padStart(64, "0")}`);
const PLAN: RequestPlan = {
  style: "chain",
  batch: 1,
  slots: 0,
  absent: 0,
  estimates: 0,
  blocks: undefined,
  keys: {
    kind: "list",
    name: "",
    accounts: [...PAYERS.map(address => ({address, slots: []})), {address: CONTRACT, slots: SLOTS}],
  },
};

interface Call {
  readonly jsonrpc: string;
  readonly id: number;
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: of either method
  readonly params: any;
}

function makeCalls(plan: Partial<RequestPlan>, requests: number, seed = 1): Call[] {
  const maker = new RequestMaker({...PLAN, ...plan}, new Random(seed, 0));
  return Array.from({length: requests}, () => JSON.parse(maker.next().text)).flat();
}

test("a single call is an object, a batch is an array with the ids 0 to n - 1", () => {
  const maker = new RequestMaker(PLAN, new Random(1, 0));
  const single = JSON.parse(maker.next().text);
  assert.deepEqual(Object.keys(single), ["jsonrpc", "id", "method", "params"]);
  assert.equal(single.method, "chain_getProof");
  const batch = makeCalls({batch: 5, style: "eth"}, 1);
  assert.deepEqual(
    batch.map(({id}) => id),
    [0, 1, 2, 3, 4],
  );
  assert.ok(batch.every(({method, jsonrpc}) => method === "eth_getProof" && jsonrpc === "2.0"));
});

test("accounts are all drawn, and so are the blocks of a range, its ends included", () => {
  const calls = makeCalls({blocks: {low: 8, high: 11}}, 500);
  assert.deepEqual([...new Set(calls.map(({params}) => params[0]))].sort(), [...PAYERS, CONTRACT]);
  assert.deepEqual([...new Set(calls.map(({params}) => params[2]))].sort(), ["0x8", "0x9", "0xa", "0xb"]);
  const numbered = makeCalls({keys: {kind: "numbered", count: 3}}, 200).map(({params}) => params[0]);
  assert.deepEqual([...new Set(numbered)].sort(), [0, 1, 2].map(i => `0x${numberedAddress(i)}`).sort());
});

test("an account's own slots come first, each once; further ones are made up", () => {
  for (const {params} of makeCalls({slots: 5}, 200)) {
    const [address, slots] = params as [string, string[]];
    assert.equal(new Set(slots).size, 5);
    assert.ok(slots.every(slot => /^0x[0-9a-f]{64}$/.test(slot)));
    if (address === CONTRACT) assert.deepEqual(slots.slice(0, 3).sort(), SLOTS);
  }
  const few = makeCalls({slots: 2}, 500).filter(({params}) => params[0] === CONTRACT);
  assert.equal(new Set(few.flatMap(({params}) => params[1])).size, 3, "any of them may be asked for");
});

test("the shares of absent accounts and of estimates are kept", () => {
  const known = new Set([...PAYERS, CONTRACT]);
  const calls = makeCalls({absent: 0.25, estimates: 0.4, batch: 10}, 500);
  const proofs = calls.filter(({method}) => method === "chain_getProof");
  const share = 1 - proofs.length / calls.length;
  assert.ok(share > 0.36 && share < 0.44, `${share} estimates`);
  const absent = proofs.filter(({params}) => !known.has(params[0])).length / proofs.length;
  assert.ok(absent > 0.21 && absent < 0.29, `${absent} absent`);
  assert.equal(makeCalls({absent: 1, keys: {kind: "list", name: "", accounts: []}}, 100).length, 100);
});

test("an estimate is a transfer between accounts without slots, and named by its id", () => {
  const maker = new RequestMaker({...PLAN, estimates: 0.5, batch: 20}, new Random(3, 0));
  const {text, estimates} = maker.next();
  const calls = JSON.parse(text) as Call[];
  const found = calls.filter(({method}) => method === "chain_estimateGas");
  assert.deepEqual(
    found.map(({id}) => id),
    estimates,
  );
  for (const {params} of found) {
    const [{from, to, value}] = params;
    assert.ok(PAYERS.includes(from) && PAYERS.includes(to));
    assert.equal(value, "0x0");
  }
});

test("a seed asks for the same again, another seed and another thread for something else", () => {
  const plan = {absent: 1, batch: 4};
  assert.deepEqual(makeCalls(plan, 10, 7), makeCalls(plan, 10, 7));
  assert.notDeepEqual(makeCalls(plan, 10, 7), makeCalls(plan, 10, 8));
  const addresses = [0, 1, 2].map(stream => new Random(7, stream).hexWords(5));
  assert.equal(new Set(addresses).size, 3);
});
