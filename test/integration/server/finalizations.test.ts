/** chain_getFinalizations over a real socket: what it lists, and that a proof thread reads it. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {prunedKey} from "../../../storage/record/layout.ts";
import {Engine} from "../../../workers/engine.ts";
import {createEvent, createStep} from "../../support/chains/finalityEvents.ts";
import {hashOfBlock} from "../../support/chains/serviceLines.ts";
import {FrontService, FrontStore, LATEST} from "../../support/http/frontService.ts";
import {tamper} from "../../support/stores/tamper.ts";

let store: FrontStore;

before(async () => {
  store = await FrontStore.create();
});

function list(id: number, ...params: unknown[]) {
  return {jsonrpc: "2.0", id, method: "chain_getFinalizations", params};
}

test("finalizations are listed in order by a proof thread, with a cost for admission, and the main thread reads none", async t => {
  await store.serve(async service => {
    const {engine} = service;
    const reads = [
      t.mock.method(engine.chain.finalizations, "list"),
      t.mock.method(engine.chain, "readHeader"),
    ];
    const ask = async (...params: unknown[]) => JSON.parse(await service.ask(list(1, ...params)));
    assert.deepEqual(await ask(), {jsonrpc: "2.0", id: 1, result: []});
    const hash = (block: number) => Buffer.from(hashOfBlock(block).slice(2), "hex");
    const events = [
      createEvent(1, 5, 60),
      createEvent(6, 6, 61, {names: "blockHash", parent: undefined, final: hash(6)}),
      createEvent(7, LATEST, 62, {startBlock: undefined}),
    ];
    await engine.writes.recordFinality(createStep(100, ...events));
    const {result} = await ask();
    const {stateRoot} = JSON.parse(
      await service.ask({jsonrpc: "2.0", id: 1, method: "chain_getStateRoot", params: ["0x6"]}),
    ).result;
    assert.deepEqual(
      result.map(({startBlock, endBlock}: {startBlock: unknown; endBlock: unknown}) => [
        startBlock,
        endBlock,
      ]),
      [
        ["0x1", "0x5"],
        ["0x6", "0x6"],
        [null, `0x${LATEST}`],
      ],
    );
    assert.equal(result[1].stateRoot, stateRoot);
    assert.deepEqual(result[1].l1, {
      blockNumber: "0x3d",
      transactionHash: `0x${Buffer.from(events[1]?.transactionHash ?? []).toString("hex")}`,
      blockHash: hashOfBlock(6),
    });
    assert.deepEqual(Object.keys(result[0].l1), ["blockNumber", "transactionHash", "stateRoot"]);
    assert.deepEqual((await ask("0x6", "0x1")).result, result.slice(1, 2));
    assert.deepEqual((await ask("0x9")).result, []);
    assert.deepEqual((await ask(`0x${"f".repeat(13)}`)).result, []);
    for (const params of [["0x0", "0x3e9"], ["0x0", "0x0"], ["latest"]])
      assert.equal((await ask(...params)).error.code, -32602, String(params));
    const batch = JSON.parse(await service.ask([list(1), list(2, "0x7"), list(3, "0x0", "0x2")]));
    assert.deepEqual(
      batch.map((answer: {result: unknown}) => answer.result),
      [result, result.slice(2), result.slice(0, 2)],
    );
    // chain_getStateRoot looks for the finalization of its block.
    assert.deepEqual(
      reads.map(({mock}) => mock.callCount()),
      [1, 0],
    );
    const most = await service.ask(Array.from({length: 21}, (_, id) => list(id, "0x0", "0x3e8")));
    assert.deepEqual(JSON.parse(most).error.data, {limit: 20_000, got: 21 * 20_000});
  });
});

test("a damaged record behind it is -32603, also when the block that the list begins at is pruned", async t => {
  const directory = await store.copy();
  const pruning = {history: {kind: "newest", blocks: 1}, rests: false, onEvent: () => {}} as const;
  const engine = await Engine.open({
    ...{directory, pruning},
    workers: 0,
    cacheBytes: 1 << 20,
    createIfMissing: false,
  });
  await engine.writes.recordFinality(createStep(100, createEvent(1, 5, 60), createEvent(6, LATEST, 61)));
  await engine.pruner?.idle();
  await engine.close();
  await tamper(directory, db => db.put(prunedKey(5), Buffer.alloc(40)));
  const service = await FrontService.start(directory, {});
  t.after(() => service.stop());
  const {error} = JSON.parse(await service.ask(list(1, "0x1")));
  assert.equal(error.code, -32603, error.message);
  assert.equal(await service.readMetric("proofd_damaged_records_total"), 1);
  assert.equal(JSON.parse(await service.ask(list(1, "0x6"))).result.length, 1);
});
