/** chain_waitForProof over real sockets: calls that wait for finality, and how their waits end. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import {parseEnvelope} from "../../../server/rpc/envelope.ts";
import {ACCOUNTS, hashOfBlock} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import type {RawConnection} from "../../support/http/rawConnection.ts";
import {
  FINALIZED,
  LATEST,
  type WaitingService,
  WaitingStore,
  type WaitParams,
  waitCall,
} from "../../support/http/waitingService.ts";
import {CHAIN_CALL, proofCall} from "../../support/http/wireRequests.ts";

const ACCOUNT = ACCOUNTS[0] as string;
const KEYS = ["0x1", "0x02", "0x9"];
const UNFINALIZED = FINALIZED + 2;

let store: WaitingStore;

before(async () => {
  store = await WaitingStore.create();
});

after(() => store.remove());

test("a finalized block is answered at once, byte for byte as by chain_getProof", async () => {
  await store.serve(async service => {
    for (const block of [
      "0x0",
      `0x${FINALIZED}`,
      "finalized",
      "safe",
      "earliest",
      {blockHash: hashOfBlock(2)},
    ]) {
      const text = await service.ask(waitCall(7, {keys: KEYS, block}));
      assert.equal(text, await service.ask(proofCall(7, ACCOUNT, KEYS, block)));
      assert.ok(text.includes('"storageProofs":['), text.slice(0, 200));
    }
    assert.equal(await service.countEnds("finalized"), 0);
  });
});

test("a call waits until its block is finalized, and is answered byte for byte as chain_getProof is then", async () => {
  await store.serve(async service => {
    const block = `0x${UNFINALIZED}`;
    const selectors = [block, {blockNumber: block}, {blockHash: hashOfBlock(UNFINALIZED)}];
    const waiting = await Promise.all(
      selectors.map(one => service.send(waitCall(7, {keys: KEYS, block: one}))),
    );
    const later = await service.send(waitCall(7, {block: `0x${UNFINALIZED + 1}`}));
    await service.waitForCalls(4);
    assert.equal(await service.readMetric('proofd_queued_cost{lane="proof"}'), 0);
    await service.engine.finalize(UNFINALIZED - 1);
    assert.equal(await service.readMetric("proofd_waiting_calls"), 4);
    await service.engine.finalize(UNFINALIZED);
    assert.equal(await service.readMetric("proofd_waiting_calls"), 1);
    const proof = await service.ask(proofCall(7, ACCOUNT, KEYS, block));
    for (const connection of waiting) assert.equal((await connection.readAnswer()).body, proof);
    await service.engine.finalize(LATEST);
    assert.equal(JSON.parse((await later.readAnswer()).body).error, undefined);
    assert.equal(await service.countEnds("finalized"), 4);
    assert.equal(await service.readMetric('proofd_calls_total{method="chain_waitForProof",code="0"}'), 4);
  });
});

test("latest names the block that is newest when the call comes", async () => {
  await store.serve(async service => {
    const connection = await service.send(waitCall(1, {block: "latest"}));
    await service.waitForCalls(1);
    await service.engine.finalize(LATEST - 1);
    assert.equal(await service.readMetric("proofd_waiting_calls"), 1);
    await service.engine.finalize(LATEST);
    const {body} = await connection.readAnswer();
    assert.equal(body, await service.ask(proofCall(1, ACCOUNT, [], `0x${LATEST}`)));
  });
});

test("a block that is not finalized in time is -32002 with the newest finalized block, held or not yet", async () => {
  await store.serve(async service => {
    for (const block of [`0x${UNFINALIZED}`, `0x${(LATEST + 1024).toString(16)}`]) {
      const answer: Answer = JSON.parse(await service.ask(waitCall("mine", {block, timeoutMs: 60})));
      assert.equal(answer.id, "mine");
      assertError(answer, -32002, {finalized: `0x${FINALIZED}`});
      assert.match(answer.error?.message ?? "", new RegExp(`block ${block} was not finalized within 60 ms`));
    }
    assert.equal(await service.countEnds("timed_out"), 2);
    assert.equal(
      await service.readMetric('proofd_calls_total{method="chain_waitForProof",code="-32002"}'),
      2,
    );
  });
});

test("with a time of 0 a call does not wait: it is answered or refused as chain_getProof is", async () => {
  await store.serve(async service => {
    for (const block of ["0x1", `0x${UNFINALIZED}`, `0x${LATEST + 1}`, {blockHash: hashOfBlock(UNFINALIZED)}])
      assert.equal(
        await service.ask(waitCall(1, {block, timeoutMs: 0})),
        await service.ask(proofCall(1, ACCOUNT, [], block)),
      );
  });
});

test("wrong parameters, unknown hashes and blocks far above the head are refused at once", async () => {
  await store.serve(async service => {
    const table: [number, unknown[]][] = [
      [-32602, [ACCOUNT, []]],
      [-32602, [ACCOUNT, [], "latest", 1, 2]],
      [-32602, ["0x12", [], "latest", 60_000]],
      [-32602, [ACCOUNT, ["0xzz"], "latest", 60_000]],
      [-32602, [ACCOUNT, [], null, 60_000]],
      [-32602, [ACCOUNT, [], "newest", 60_000]],
      [-32005, [ACCOUNT, Array.from({length: 1025}, () => "0x1"), "latest", 60_000]],
      [-32001, [ACCOUNT, [], {blockHash: `0x${"12".repeat(32)}`}, 60_000]],
      [-32001, [ACCOUNT, [], `0x${(LATEST + 1025).toString(16)}`, 60_000]],
    ];
    for (const timeoutMs of [60_001, -1, 0.5, "1000", true, {}])
      table.push([-32602, [ACCOUNT, [], "latest", timeoutMs]]);
    for (const [code, params] of table) {
      const answer: Answer = JSON.parse(
        await service.ask({jsonrpc: "2.0", id: 1, method: "chain_waitForProof", params}),
      );
      assert.equal(answer.error?.code, code, JSON.stringify([params[3], answer]));
    }
    const {error} = JSON.parse(await service.ask(waitCall(1, {timeoutMs: 60_001})));
    assert.equal(
      error.message,
      "params[3] (timeoutMs): expected a whole number of milliseconds from 0 to 60000, got 60001",
    );
  });
});

test("a call by hash is answered as by chain_getProof when a rollback removes its block, one by number waits on", async () => {
  await store.serve(async service => {
    const selector = {blockHash: hashOfBlock(UNFINALIZED)};
    const byHash = await service.send(waitCall(1, {block: selector}));
    const byNumber = await service.send(waitCall(1, {block: `0x${UNFINALIZED}`}));
    const below = await service.send(waitCall(1, {block: {blockHash: hashOfBlock(FINALIZED + 1)}}));
    await service.waitForCalls(3);
    await service.engine.rollback(FINALIZED + 1);
    const {body} = await byHash.readAnswer();
    assertError(JSON.parse(body), -32001, {earliest: "0x0", finalized: `0x${FINALIZED}`});
    assert.equal(body, await service.ask(proofCall(1, ACCOUNT, [], selector)));
    assert.equal(await service.countEnds("replaced"), 1);
    await service.engine.finalize(FINALIZED + 1);
    assert.equal(JSON.parse((await below.readAnswer()).body).error, undefined);
    assert.equal(await service.readMetric("proofd_waiting_calls"), 1);
    byNumber.destroy();
    await service.waitForCalls(0);
  });
});

test("a client that goes away is forgotten at once", async () => {
  await store.serve(async service => {
    const batch = await service.send([waitCall(1), waitCall(2), proofCall(3)]);
    const single = await service.send(waitCall(1));
    const half = await service.send(waitCall(1));
    await service.waitForCalls(4);
    batch.destroy();
    await service.waitForCalls(2);
    half.socket.end();
    await service.waitForCalls(1);
    single.destroy();
    await service.waitForCalls(0);
    assert.equal(await service.countEnds("gone"), 4);
    await service.engine.finalize(LATEST);
    assert.equal(JSON.parse(await service.ask(waitCall(1))).error, undefined);
  });
});

test("a batch is answered when its last wait is over, in order, and its other calls see the head of that time", async () => {
  await store.serve(async service => {
    const root = (id: number) => ({jsonrpc: "2.0", id, method: "chain_getStateRoot", params: ["finalized"]});
    const connection = await service.send([
      root(0),
      waitCall(1, {block: `0x${UNFINALIZED}`}),
      proofCall(2, ACCOUNT, [], "finalized"),
      waitCall(3, {block: `0x${LATEST}`, timeoutMs: 50}),
      waitCall(4, {block: "0x1"}),
      waitCall(5, {block: "0x1", timeoutMs: 60_001}),
      {...waitCall(6), id: undefined},
    ]);
    await service.waitForEnd("timed_out", 1);
    assert.equal(await service.readMetric("proofd_waiting_calls"), 1);
    await service.engine.finalize(UNFINALIZED);
    const answers: Answer[] = JSON.parse((await connection.readAnswer()).body);
    assert.deepEqual(
      answers.map(({id, error}) => [id, error?.code]),
      [
        [0, undefined],
        [1, undefined],
        [2, undefined],
        [3, -32002],
        [4, undefined],
        [5, -32602],
      ],
    );
    const {number} = (answers[0] as Answer).result as {readonly number: string};
    assert.equal(number, `0x${UNFINALIZED}`);
    assert.deepEqual(answers[1]?.result, answers[2]?.result);
  });
});

test("more calls than may wait are turned away with 503 and -32005, and calls that need not wait are not", async () => {
  const busy = async (service: WaitingService, body: unknown, data: unknown): Promise<void> => {
    const {status, headers, body: text} = await (await service.send(body)).readAnswer();
    assert.equal(status, 503);
    assert.equal(headers["retry-after"], "1");
    assertError(JSON.parse(text), -32005, data);
  };
  await store.serve(
    async service => {
      const first = await service.send([waitCall(1), waitCall(2)]);
      await service.waitForCalls(2);
      await busy(service, [waitCall(1), waitCall(2)], {limit: 3, got: 4});
      await service.send(waitCall(1));
      await service.waitForCalls(3);
      await busy(service, waitCall("own"), {limit: 3, got: 4});
      assert.equal(JSON.parse(await service.ask(waitCall(1, {block: "0x1"}))).error, undefined);
      assert.equal(JSON.parse(await service.ask(JSON.parse(CHAIN_CALL))).error, undefined);
      await service.send(waitCall(1), "127.0.0.2");
      await service.waitForCalls(4);
      assert.equal(await service.countEnds("refused"), 3);
      first.destroy();
      await service.waitForCalls(2);
    },
    {waitingCalls: 3},
  );
  const {heldBytes} = parseEnvelope(Buffer.from(JSON.stringify(waitCall(1))), DEFAULT_LIMITS);
  await store.serve(
    async service => {
      await service.send(waitCall(1));
      await service.waitForCalls(1);
      await busy(service, waitCall(1), {limit: 2 * heldBytes - 1, got: 2 * heldBytes});
      await service.send(waitCall(1), "127.0.0.2");
      await service.waitForCalls(2);
      await service.engine.finalize(LATEST);
      await service.waitForCalls(0);
      assert.equal(JSON.parse(await service.ask(waitCall(1))).error, undefined);
    },
    {bodyBytes: heldBytes, bodyBytesTotal: 4 * (2 * heldBytes - 1)},
  );
});

test("calls that become ready together all get their proofs, though they cost more than the queue takes", async () => {
  await store.serve(
    async service => {
      const calls = Array.from({length: 50}, (_, id) =>
        waitCall(id, {address: ACCOUNTS[id % ACCOUNTS.length] as string}),
      );
      const singles = await Promise.all(calls.map(call => service.send(call)));
      const batch = await service.send(calls);
      await service.waitForCalls(100);
      await service.engine.finalize(LATEST);
      const answers: Answer[] = JSON.parse((await batch.readAnswer()).body);
      for (const [id, connection] of singles.entries()) {
        const {status, body} = await connection.readAnswer();
        assert.equal(status, 200);
        assert.deepEqual(JSON.parse(body), answers[id]);
        assert.equal(answers[id]?.error, undefined);
      }
    },
    {queueCost: 4},
  );
});

test("a call that finds no room for as long as a request may take is turned away with 503 and -32005", async () => {
  await store.serve(
    async service => {
      const connection = await service.send(waitCall("own"));
      await service.waitForCalls(1);
      await service.engine.finalize(LATEST);
      const {status, body} = await connection.readAnswer();
      const answer: Answer = JSON.parse(body);
      assert.deepEqual([status, answer.id, answer.error?.code], [503, "own", -32005]);
      assert.match(answer.error?.message ?? "", /would wait longer than the request may take/);
      assert.equal(await service.countEnds("finalized"), 1);
    },
    // The queue never has room.
    {queueCost: 0, timeoutMs: 80},
  );
});

test("when the service stops, waiting calls are turned away at once with 503 and -32005", async () => {
  await store.serve(async service => {
    const single = await service.send(waitCall("own"));
    const batch = await service.send([waitCall(1), proofCall(2)]);
    await service.waitForCalls(2);
    const drained = service.front.http.drain();
    service.front.waiting.close();
    await drained;
    for (const [connection, id] of [
      [single, "own"],
      [batch, null],
    ] as const) {
      const {status, body} = await connection.readAnswer();
      const answer: Answer = JSON.parse(body);
      assert.deepEqual([status, answer.id], [503, id]);
      assertError(answer, -32005, {limit: 0, got: 1});
    }
    assert.equal(await service.countEnds("stopped"), 2);
  });
});

test("a request that has waited is not parsed again, however its wait ends", async t => {
  await store.serve(async service => {
    const {engine, front} = service;
    const parse = t.mock.method(JSON, "parse");
    const ends: [params: WaitParams, isBatch: boolean, end: () => unknown, answer: RegExp][] = [
      [{timeoutMs: 1}, false, () => {}, /"code":-32002/],
      [{block: {blockHash: hashOfBlock(LATEST)}}, false, () => engine.rollback(LATEST - 1), /"code":-32001/],
      [{}, true, () => engine.finalize(LATEST - 1), /^\[\{"jsonrpc":"2.0","id":1,"result"/],
      [{block: `0x${LATEST}`}, true, () => front.waiting.close(), /"code":-32005/],
    ];
    const send = (params: WaitParams, isBatch: boolean): Promise<RawConnection> => {
      const call = {...waitCall(1, params), padding: "x".repeat(1e6)};
      return service.send(isBatch ? [call] : call);
    };
    const gone = await send({}, false);
    await service.waitForCalls(1);
    gone.destroy();
    await service.waitForEnd("gone", 1);
    for (const [params, isBatch, end, answer] of ends) {
      const connection = await send(params, isBatch);
      if (params.timeoutMs === undefined) await service.waitForCalls(1);
      await end();
      assert.match((await connection.readAnswer()).body, answer);
    }
    assert.equal(parse.mock.callCount(), 1 + ends.length);
    for (const outcome of ["gone", "timed_out", "replaced", "finalized", "stopped"] as const)
      assert.equal(await service.countEnds(outcome), 1, outcome);
  });
});
