/** JSON-RPC over a real socket: envelopes, batches, ids, methods and limits, and the errors for wrong ones. */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import type {Limits} from "../../../server/limits.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, CHAIN_ID, WorkFolder} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {proofCall} from "../../support/http/wireRequests.ts";

const ACCOUNT = ACCOUNTS[0] as string;

describe("JSON-RPC", () => {
  let service: ProvenService;
  let daemon: OwnService;

  before(async () => {
    service = await ProvenService.start();
    daemon = service.daemon;
  });

  after(() => service.stop());

  test("a batch answers good and bad elements in request order and leaves notifications out", async () => {
    const answers: Answer[] = await daemon.send([
      proofCall("a"),
      1,
      {jsonrpc: "2.0", method: "chain_getCoverage"},
      {jsonrpc: "2.0", id: 2, method: "no_such_method"},
      proofCall(3, "0x12"),
      {jsonrpc: "2.0", method: "chain_getProof", params: ["bad"]},
      proofCall(4, ABSENT_ACCOUNT, ["0x5"]),
      {id: 9},
      {jsonrpc: "2.0", id: 10, method: "chain_chainId"},
    ]);
    assert.deepEqual(
      answers.map(answer => [answer.id, answer.error?.code ?? "result"]),
      [
        ["a", "result"],
        [null, -32600],
        [2, -32601],
        [3, -32602],
        [4, "result"],
        [9, -32600],
        [10, "result"],
      ],
    );
    service.verify(FINALIZED, ACCOUNT, [], answers[0] as Answer);
    service.verify(FINALIZED, ABSENT_ACCOUNT, ["0x5"], answers[4] as Answer);
  });

  test("a body of notifications only is answered 204 without a body", async () => {
    const notification = {jsonrpc: "2.0", method: "chain_getProof", params: [ACCOUNT, [], "latest"]};
    for (const body of [notification, [notification, {jsonrpc: "2.0", method: "nonsense"}]])
      assert.deepEqual(await daemon.post(JSON.stringify(body)), {status: 204, text: ""});
  });

  test("what is no JSON and what is no request is answered with 200 and one error with id null", async () => {
    const refused = 'proofd_calls_total{method="unknown",code="-32700"}';
    const before = await daemon.readMetric(refused);
    const table: [string | Uint8Array, number][] = [
      ["{", -32700],
      [Buffer.from([0x22, 0xff, 0xfe, 0x22]), -32700],
      ["[".repeat(1_000_000), -32700],
      ["[]", -32600],
      ["1", -32600],
      ['{"jsonrpc":"2.0","id":1.5,"method":"chain_chainId"}', -32600],
    ];
    for (const [body, code] of table) {
      const {status, text} = await daemon.post(body);
      assert.equal(status, 200);
      const answer = JSON.parse(text);
      assertError(answer, code);
      assert.equal(answer.id, null);
    }
    assert.equal(await daemon.readMetric(refused), before + 3);
  });

  test("unknown methods are -32601, also those that every object inherits", async () => {
    for (const method of ["eth_getLogs", "", "constructor", "__proto__", "toString", "x".repeat(100_000)]) {
      const answer = await daemon.call(method);
      assertError(answer, -32601);
      assert.ok(answer.error.message.length < 200);
    }
  });

  test("an unknown method whose name is near a known one names that one", async () => {
    for (const [method, near] of [
      ["eth_getproof", "eth_getProof"],
      ["linea_getProof", "chain_getProof"],
      ["chain_getproofs", "chain_getProof"],
      ["eth_estimateGas", "chain_estimateGas"],
      ["zks_getCode", "eth_getCode"],
      ["chain_state_root", "chain_getStateRoot"],
      ["rpc_discover", "rpc.discover"],
      ["ETH_CHAINID", "eth_chainId"],
    ] as const) {
      const {error} = await daemon.call(method);
      assert.equal(error.message, `there is no method ${JSON.stringify(method)}: did you mean ${near}?`);
    }
    for (const method of ["eth_sendTransaction", "eth_", "_", "get", "eth_getTransactionReceipt"])
      assert.equal((await daemon.call(method)).error.message, `there is no method ${JSON.stringify(method)}`);
  });

  test("coverage, chain id and client version are told", async () => {
    const coverage = {
      earliest: "0x0",
      finalized: "0x4",
      latest: "0x6",
      suite: "sha256",
      ranges: [["0x0", "0x4"]],
      rangeCount: "0x1",
      unverified: ["0x0", "0x6"],
      openResets: null,
    };
    assert.deepEqual((await daemon.call("chain_getCoverage")).result, coverage);
    assert.equal((await daemon.call("chain_chainId")).result, CHAIN_ID);
    assert.match(
      (await daemon.call("web3_clientVersion")).result,
      /^proofd\/[0-9.]+\/[a-z0-9]+-[a-z0-9]+\/node[0-9.]+$/,
    );
  });

  test("a batch that is too long or costs too much is one error for the whole request, and nothing runs", async () => {
    const before = await daemon.readMetric('proofd_calls_total{method="chain_getProof",code="0"}');
    const long = await daemon.post(JSON.stringify(Array.from({length: 1001}, (_, id) => proofCall(id))));
    assert.equal(long.status, 200);
    assertError(JSON.parse(long.text), -32005, {limit: 1000, got: 1001});
    assert.equal(JSON.parse(long.text).id, null);
    const costly = await daemon.send(
      Array.from({length: 20}, (_, id) => proofCall(id, ACCOUNT, wordsTo(1024))),
    );
    assertError(costly, -32005, {limit: 20_000, got: 20_500});
    assert.equal(costly.id, null);
    assert.equal(await daemon.readMetric('proofd_calls_total{method="chain_getProof",code="0"}'), before);
  });

  test("cost, members and batch may be at their limits together: only the response would be too large", async () => {
    const {error} = await daemon.send(
      Array.from({length: 1000}, (_, id) => proofCall(id, ACCOUNT, wordsTo(19))),
    );
    assert.match(error.message, /^a response: expected at most/);
  });

  test("a response, keys and a batch beyond the limits of a service are refused before any work", async () => {
    await withLimits({responseBytes: 20_000, batchCalls: 2, storageKeys: 1}, async limited => {
      assert.deepEqual((await limited.send([1, 2, 3])).error.data, {limit: 2, got: 3});
      assertError(await limited.send(proofCall(1, ACCOUNT, ["0x1", "0x2"])), -32005, {limit: 1, got: 2});
      assert.ok((await limited.send(proofCall(1))).result !== undefined);
      const answer = await limited.send(proofCall("mine", ACCOUNT, ["0x1"]));
      assert.equal(answer.id, "mine");
      assert.equal(answer.error.code, -32005);
      assert.equal(answer.error.data.limit, 20_000);
      assert.ok(answer.error.data.got > 20_000);
    });
  });

  test("calls that are not finished in time are -32005 with the limit, in their places", async () => {
    const slow = Array.from({length: 19}, (_, at) => proofCall(at + 1, ACCOUNT, wordsTo(1000)));
    await withLimits({timeoutMs: 150}, async limited => {
      await limited.send(proofCall(0));
      const batch = [proofCall(0), ...slow, {jsonrpc: "2.0", id: 20, method: "chain_chainId"}];
      const answers: Answer[] = await limited.send(batch);
      assert.deepEqual(
        answers.map(answer => answer.id),
        Array.from({length: 21}, (_, id) => id),
      );
      assert.equal(answers.pop()?.result, CHAIN_ID);
      // One thread makes them in order: what is finished in time is at the beginning.
      const firstLate = answers.findIndex(answer => answer.error !== undefined);
      assert.notEqual(firstLate, -1);
      for (const {error} of answers.slice(firstLate)) {
        assert.equal(error?.code, -32005);
        const {limit, got} = (error as {data: {limit: number; got: number}}).data;
        assert.equal(limit, 150);
        assert.ok(got >= limit, `got ${got}`);
      }
    });
  });
});

function wordsTo(count: number): string[] {
  return Array.from({length: count}, (_, at) => `0x${at.toString(16).padStart(64, "0")}`);
}

async function withLimits(
  limits: Partial<Limits>,
  use: (limited: OwnService) => Promise<void>,
): Promise<void> {
  const folder = new WorkFolder();
  const limited = await OwnService.start({db: await folder.importChain("db", 1, 1), limits});
  try {
    await use(limited);
  } finally {
    await limited.stop();
  }
}
