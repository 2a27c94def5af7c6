/** What an estimate thread does when its EVM in WebAssembly breaks, and which calls it has no rules, no room or no block for. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {Evm} from "../../../evm/interpreter/evm.ts";
import type {StateStore} from "../../../storage/stateStore.ts";
import {Estimator} from "../../../workers/estimate/estimator.ts";
import type {CachedEvms} from "../../../workers/estimate/state/cachedEvms.ts";
import {Turns} from "../../../workers/estimate/turns.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {assemble, OP} from "../../support/estimates/bytecode.ts";
import {CHAIN_ID, EstimateStore, PLAIN_CALL, SETTINGS} from "../../support/estimates/estimateStore.ts";
import {packEstimates} from "../../support/estimates/packedEstimates.ts";

const CONTRACT = new Uint8Array(20).fill(0xc0);
const CALL: EstimateCall = {...PLAIN_CALL, to: CONTRACT, data: Uint8Array.of(1)};
/** As in wasm/layout.ts. */
const CODES = 0x8200000;
/** Never reached. */
const LIMIT_MS = 3_600_000;
const MUCH_GAS = 2 ** 40;

let store: EstimateStore;
let shared: StateStore;

before(async () => {
  store = await EstimateStore.create();
  const code = encodeHex(assemble(1n, 0n, OP.SSTORE));
  await store.addBlock({accounts: {[encodeHex(CONTRACT)]: {nonce: "0x1", code}}});
  shared = await store.share();
});

after(async () => {
  await shared.close();
  await store.close();
});

function createEstimator(hardfork: string): Estimator {
  return new Estimator(shared.reader, {...SETTINGS, hardfork, timeMs: LIMIT_MS, gasCap: MUCH_GAS}, CHAIN_ID);
}

/** The EVM is the estimator's own business; only a test may break it. */
function breakEvm(estimator: Estimator): void {
  const {evms: held} = estimator as unknown as {evms: CachedEvms};
  const {evms} = held as unknown as {evms: {evm: Evm}[]};
  assert.equal(evms.length, 1);
  // Tables of codes, accounts and slots that lead out of the memory.
  for (const {evm} of evms) evm.instance.bytes.fill(0xff, CODES);
}

test("a trap ends its call as a fault, and the next call gets a fresh EVM", async () => {
  const estimator = createEstimator("prague");
  const expected = await estimator.estimate(CALL);
  breakEvm(estimator);
  const {failures, begun} = await estimator.answer(packEstimates(CALL, CALL));
  assert.deepEqual(
    failures.map(({call, failure}) => [call, failure]),
    [[0, "INTERNAL"]],
  );
  assert.match(failures[0]?.detail ?? "", /memory access out of bounds/);
  assert.equal(begun, undefined, "all");
  assert.deepEqual(await estimator.estimate(CALL), expected);
});

test("the slots of access lists and overrides give others their turns", async () => {
  let asked = 0;
  class AskedTurns extends Turns {
    override isOver(): boolean {
      asked++;
      return super.isOver();
    }
  }
  const settings = {...SETTINGS, hardfork: "prague", timeMs: LIMIT_MS, gasCap: MUCH_GAS};
  const estimator = new Estimator(shared.reader, settings, CHAIN_ID, new AskedTurns());
  const words = Buffer.from(Array.from({length: 640 * 32}, (_, i) => i));
  for (const lists of [
    {type: undefined, accessList: [{address: CONTRACT, storageKeys: words}]},
    {overrides: [{address: CONTRACT, slots: Buffer.concat([words, words])}]},
  ]) {
    asked = 0;
    const {failures} = await estimator.answer(packEstimates({...CALL, kind: "call", ...lists}));
    assert.deepEqual(failures, []);
    assert.ok(asked >= 20, `expected a look at the turns for each 32 slots, got ${asked}`);
  }
});

test("a call at a block before berlin is refused by the name of the block's fork", async () => {
  const {failures} = await createEstimator("istanbul").answer(packEstimates(CALL));
  const detail = "calls are run under the rules of berlin and later, block 0 has those of istanbul";
  assert.deepEqual(failures, [{call: 0, failure: "CALL_INVALID", detail}]);
});

test("a call that needs more room than the EVM has is refused by what is full, and the next one gets a fresh EVM", async () => {
  const estimator = createEstimator("prague");
  const expected = await estimator.estimate(CALL);
  // Another slot of transient storage each round, from 1 on.
  const code = assemble(0n, OP.JUMPDEST, 1n, OP.ADD, OP.DUP1, OP.DUP1, OP.TSTORE, 2n, OP.JUMP);
  const overrides = [{address: CONTRACT, code}];
  const call = {...CALL, gas: BigInt(MUCH_GAS), overrides};
  const {failures} = await estimator.answer(packEstimates(call));
  const detail = "the call cannot be executed: it needs more room for state than the EVM has";
  assert.deepEqual(failures, [{call: 0, failure: "EXECUTION_FAILED", detail}]);
  assert.deepEqual(await estimator.estimate(CALL), expected);
});

test("a call at the newest block, which is removed meanwhile, is answered at the newest one that is left", async () => {
  const estimator = createEstimator("prague");
  const expected = await estimator.estimate(CALL);
  assert.deepEqual(await estimator.estimate({...CALL, block: 7, isLatest: true}), expected);
  await assert.rejects(estimator.estimate({...CALL, block: 7}), {code: "BLOCK_UNKNOWN"});
});
