/** Proofs over a real socket, each checked against the state root of its block: of what, as of which block, and how many. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {ABSENT_ACCOUNT, ACCOUNTS, CHAIN_ID, hashOfBlock} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import {proofCall} from "../../support/http/wireRequests.ts";

const ACCOUNT = ACCOUNTS[0] as string;

let service: ProvenService;
let daemon: OwnService;

before(async () => {
  service = await ProvenService.start();
  daemon = service.daemon;
});

after(() => service.stop());

test("a proof of a present account, its slots and its missing slots holds against the state root", async () => {
  const keys = ["0x1", "0x02", "0x3", "0x4", "0x1"];
  const answer = await daemon.send(proofCall(1, ACCOUNT, keys));
  assert.deepEqual(Object.keys(answer), ["jsonrpc", "id", "result"]);
  const proven = service.verify(FINALIZED, ACCOUNT, keys, answer);
  assert.notEqual(proven.account, undefined);
  assert.deepEqual(proven.slots.slice(1, 4), [0x22n, 0x33n, undefined]);
  assert.equal(proven.slots[0], proven.slots[4]);
});

test("a missing account is proved absent, and its slots by the absence proof of a new tree", async () => {
  const proven = service.verify(
    2,
    ABSENT_ACCOUNT,
    ["0x1"],
    await daemon.send(proofCall(1, ABSENT_ACCOUNT, ["0x1"], "0x2")),
  );
  assert.equal(proven.account, undefined);
  assert.deepEqual(proven.slots, [undefined]);
});

test("every finalized block is proved against its own root", async () => {
  const batch = [];
  for (let block = 0; block <= FINALIZED; block++)
    batch.push(proofCall(block, ACCOUNT, ["0x1"], `0x${block}`));
  for (const answer of await daemon.send(batch)) service.verify(answer.id, ACCOUNT, ["0x1"], answer);
});

test("mixed case is accepted, and the answer's key is lower case", async () => {
  const shouted = `0x${ACCOUNT.slice(2).toUpperCase()}`;
  const answer = await daemon.send(proofCall(1, shouted, ["0x0A"]));
  service.verify(FINALIZED, shouted, ["0x0A"], answer);
  assert.equal(answer.result.accountProof.key, ACCOUNT);
});

test("selectors of chain_getProof name finalized blocks only", async () => {
  for (const tag of ["latest", "pending", "safe", "finalized", "0x04", {blockNumber: "0x4"}])
    service.verify(FINALIZED, ACCOUNT, [], await daemon.send(proofCall(1, ACCOUNT, [], tag)));
  service.verify(0, ACCOUNT, [], await daemon.send(proofCall(1, ACCOUNT, [], "earliest")));
  service.verify(3, ACCOUNT, [], await daemon.send(proofCall(1, ACCOUNT, [], {blockHash: hashOfBlock(3)})));
});

test("selectors of chain_getStateRoot name any block held", async () => {
  const table: [readonly unknown[], number][] = [
    [[], LATEST],
    [[null], LATEST],
    [["latest"], LATEST],
    [["pending"], LATEST],
    [["safe"], FINALIZED],
    [["finalized"], FINALIZED],
    [["earliest"], 0],
    [["0x5"], 5],
    [[{blockHash: hashOfBlock(LATEST)}], LATEST],
  ];
  for (const [params, block] of table) {
    const {result} = await daemon.call("chain_getStateRoot", params);
    assert.deepEqual(Object.keys(result), ["number", "hash", "stateRoot", "finalized"]);
    assert.equal(result.number, `0x${block}`);
    assert.equal(result.hash, hashOfBlock(block));
    assert.equal(result.finalized, block <= FINALIZED);
  }
});

test("a block that is not held is -32001 with the coverage, one that is not finalized -32002", async () => {
  const coverage = {earliest: "0x0", finalized: "0x4"};
  const unknownHash = {blockHash: `0x${"12".repeat(32)}`};
  for (const block of ["0x7", "0xffffffffffffffffffff", unknownHash]) {
    assertError(await daemon.send(proofCall(1, ACCOUNT, [], block)), -32001, coverage);
    assertError(await daemon.call("chain_getStateRoot", [block]), -32001, coverage);
  }
  for (const block of ["0x5", "0x6", {blockHash: hashOfBlock(5)}])
    assertError(await daemon.send(proofCall(1, ACCOUNT, [], block)), -32002, {finalized: "0x4"});
});

test("1 000 calls in a batch are answered in order and every proof holds", async () => {
  const batch = [];
  for (let id = 0; id < 1000; id++) {
    const address = id % 7 === 0 ? ABSENT_ACCOUNT : (ACCOUNTS[id % ACCOUNTS.length] as string);
    batch.push(
      id % 10 === 9 ? {jsonrpc: "2.0", id, method: "chain_chainId"} : proofCall(id, address, ["0x1", "0x9"]),
    );
  }
  const answers: Answer[] = await daemon.send(batch);
  assert.deepEqual(
    answers.map(answer => answer.id),
    batch.map(call => call.id),
  );
  for (const [id, answer] of answers.entries()) {
    if (id % 10 === 9) assert.equal(answer.result, CHAIN_ID);
    else if (id % 31 === 0) service.verify(FINALIZED, String(batch[id]?.params?.[0]), ["0x1", "0x9"], answer);
    else assert.ok(answer.result !== undefined);
  }
});

test("many clients at once each get their own answers", async () => {
  const rounds = Array.from({length: 200}, async (_, id) => {
    const address = ACCOUNTS[id % ACCOUNTS.length] as string;
    const answer = await daemon.send(proofCall(`client ${id}`, address, ["0x2"], `0x${id % 5}`));
    assert.deepEqual([answer.id, answer.error], [`client ${id}`, undefined]);
    assert.equal(answer.result.accountProof.key, address);
  });
  await Promise.all(rounds);
});

test("more than 1024 storage keys are -32005 for that call only", async () => {
  const keys = Array.from({length: 1025}, () => "0x1");
  const [many, fine] = await daemon.send([proofCall(1, ACCOUNT, keys), proofCall(2)]);
  assertError(many, -32005, {limit: 1024, got: 1025});
  service.verify(FINALIZED, ACCOUNT, [], fine);
});

test("1024 storage keys are one call, also behind a small one", async () => {
  const keys = Array.from({length: 1024}, (_, at) => `0x${at.toString(16)}`);
  const [small, large] = await daemon.send([proofCall(1), proofCall(2, ACCOUNT, keys)]);
  service.verify(FINALIZED, ACCOUNT, [], small);
  const proven = service.verify(FINALIZED, ACCOUNT, keys, large);
  assert.equal(proven.slots.length, 1024);
  assert.deepEqual(proven.slots.slice(2, 5), [0x22n, 0x33n, undefined]);
});
