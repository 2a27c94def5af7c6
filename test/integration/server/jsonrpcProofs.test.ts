/** chain_getProof, chain_getProofAt and chain_getMultiProof over a real socket, each proof checked against the state root of its block. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {askAccounts} from "../../../client/compact/askedKeys.ts";
import {verifyMultiProof} from "../../../client/compact/compactProof.ts";
import {decodeProofBytes} from "../../../client/compact/proofBytes.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {Proven} from "../../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import {MAX_MULTI_KEYS} from "../../../workers/messages/packedCall.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, hashOfBlock} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import {proofAtCall, proofCall} from "../../support/http/wireRequests.ts";

const ACCOUNT = ACCOUNTS[0] as string;

let service: ProvenService;
let daemon: OwnService;

before(async () => {
  service = await ProvenService.start();
  daemon = service.daemon;
});

after(() => service.stop());

const BYTES_TYPE = "application/octet-stream";

function multiCall(id: unknown, entries: unknown, block: unknown = "latest") {
  return {jsonrpc: "2.0", id, method: "chain_getMultiProof", params: [entries, block]};
}

async function postForBytes(
  body: unknown,
  accept = BYTES_TYPE,
): Promise<{type: string | null; body: Buffer}> {
  const {status, ...answer} = await daemon.postAccepting(accept, body);
  assert.equal(status, 200);
  return answer;
}

function verify(block: number, request: readonly ProofRequest[], hex: unknown): readonly Proven[] {
  return verifyMultiProof(sha256Suite, service.root(block), request, decodeHex(hex));
}

async function proveEach(block: number, request: readonly ProofRequest[]): Promise<Proven[]> {
  const calls = request.map(({address, storageKeys}, id) =>
    proofCall(id, address, storageKeys, `0x${block}`),
  );
  const answers: Answer[] = await daemon.send(calls);
  return request.map(({address, storageKeys}, at) =>
    service.verify(block, address, storageKeys, answers[at] as Answer),
  );
}

/** Duplicates, another case, repeated accounts, absent accounts with slots, accounts without slots asked for. */
const REQUEST: readonly ProofRequest[] = [
  {address: ACCOUNTS[7] as string, storageKeys: ["0x1", "0x2", "0x1", "0x99"]},
  {address: ABSENT_ACCOUNT, storageKeys: ["0x1", "0x1"]},
  {address: ACCOUNT, storageKeys: []},
  {address: (ACCOUNTS[7] as string).toUpperCase().replace("0X", "0x"), storageKeys: ["0x03"]},
  {address: ACCOUNTS[20] as string, storageKeys: [`0x${"fF".repeat(32)}`, "0x0"]},
  {address: ABSENT_ACCOUNT, storageKeys: []},
  {address: ACCOUNT, storageKeys: ["0x2"]},
];

test("1 000 calls in a batch are what they are alone, in order, whatever their methods, ids and blocks", async () => {
  const ids = ["1", "9007199254740991", '""', '"\u00e9\ud83d\ude00"'];
  const texts = Array.from({length: 1000}, (_, at) => {
    const address = at % 7 === 0 ? ABSENT_ACCOUNT : (ACCOUNTS[at % 7] as string);
    const block = `0x${(at % 7) % (FINALIZED + 1)}`;
    const calls = [
      proofCall(0, address, ["0x1", "0x9"], block),
      proofAtCall(0, address, ["0x1"], block),
      multiCall(0, REQUEST.slice(at % 7), block),
      multiCall(0, []),
      {jsonrpc: "2.0", id: 0, method: "chain_chainId"},
    ];
    return JSON.stringify(calls[at % 5]).replace('"id":0', `"id":${ids[at % ids.length]}`);
  });
  const {text} = await daemon.post(`[${texts.join(",")}]`);
  // Every method, id, block and account in turn.
  const singles: string[] = [];
  for (const one of texts.slice(0, 140)) singles.push((await daemon.post(one)).text);
  const expected = Array.from({length: 1000}, (_, at) => singles[at % 140]);
  assert.ok(text === `[${expected.join(",")}]`, "a batch is what its calls are alone");
});

test("entries are answered in the caller's order at every block, and each value is that of chain_getProof", async () => {
  for (let block = 0; block <= FINALIZED; block++) {
    const {result}: Answer = await daemon.send(multiCall(1, REQUEST, `0x${block}`));
    assert.deepEqual(verify(block, REQUEST, result), await proveEach(block, REQUEST));
  }
});

test("2 000 accounts and keys are one proof, in which each leaf stands once", async () => {
  const request = Array.from({length: 200}, (_, at) => ({
    address: ACCOUNTS[at % ACCOUNTS.length] as string,
    storageKeys: Array.from({length: 9}, (_, key) => `0x${((at * 7 + key) % 50).toString(16)}`),
  }));
  assert.equal(request.length + request.flatMap(({storageKeys}) => storageKeys).length, MAX_MULTI_KEYS);
  const {result}: Answer = await daemon.send(multiCall(1, request));
  assert.equal(verify(FINALIZED, request, result).length, request.length);
  const {leaves} = decodeProofBytes(sha256Suite, decodeHex(result), askAccounts(sha256Suite, request));
  assert.deepEqual(
    leaves.map(({leafIndex}) => leafIndex),
    ACCOUNTS.map((_, at) => at + 2),
  );
});

test("a client that accepts bytes gets the bytes of the same proof and nothing else", async () => {
  for (const request of [REQUEST, REQUEST.slice(1, 2), REQUEST.slice(2, 3)]) {
    const {result}: Answer = await daemon.send(multiCall(1, request));
    verify(FINALIZED, request, result);
    for (const accept of [
      BYTES_TYPE,
      `application/json, ${BYTES_TYPE};q=0.9`,
      `${BYTES_TYPE.toUpperCase()} ; q=0.1 ,*/*`,
    ]) {
      const {type, body} = await postForBytes(multiCall(1, request), accept);
      assert.equal(type, BYTES_TYPE);
      assert.equal(encodeHex(body), result);
    }
  }
});

test("a wildcard, a batch and every other method get JSON, whatever the client accepts", async () => {
  const call = multiCall(1, REQUEST);
  const expected = (await daemon.post(JSON.stringify(call))).text;
  for (const [body, accept, text] of [
    [call, "*/*", expected],
    [call, "application/*", expected],
    [call, "application/json;q=0.5, text/plain, application/octet-streams", expected],
    [call, `text/plain;type=${BYTES_TYPE}`, expected],
    ...["0", "0.", "0.000"].map(weight => [call, `${BYTES_TYPE}; q=${weight}`, expected] as const),
    [[call, call], BYTES_TYPE, `[${expected},${expected}]`],
    [[call], BYTES_TYPE, `[${expected}]`],
    [{...call, method: "chain_chainId", params: []}, BYTES_TYPE, '{"jsonrpc":"2.0","id":1,"result":"0x539"}'],
  ] as const) {
    const answer = await postForBytes(body, accept);
    assert.equal(answer.type, "application/json");
    assert.equal(answer.body.toString(), text);
  }
  const single = await postForBytes(proofCall(1, ACCOUNT, ["0x1"]));
  assert.equal(single.type, "application/json");
  service.verify(FINALIZED, ACCOUNT, ["0x1"], JSON.parse(single.body.toString()));
});

test("errors are JSON, also for a client that accepts bytes, and those of a block are chain_getProof's", async () => {
  const entries = [{address: ACCOUNT, storageKeys: []}];
  for (const block of [`0x${LATEST}`, "0x99", {blockHash: `0x${"12".repeat(32)}`}]) {
    const plain: Answer = await daemon.send(proofCall(1, ACCOUNT, [], block));
    assert.notEqual(plain.error, undefined);
    assert.deepEqual(await daemon.send(multiCall(1, entries, block)), plain);
    const {type, body} = await postForBytes(multiCall(1, entries, block));
    assert.equal(type, "application/json");
    assert.deepEqual(JSON.parse(body.toString()), plain);
  }
  const tooMany = Array.from({length: MAX_MULTI_KEYS + 1}, () => entries[0]);
  const excess = {limit: MAX_MULTI_KEYS, got: tooMany.length};
  for (const [refused, code, data] of [
    [multiCall(1, tooMany), -32005, excess],
    [
      multiCall(1, [{address: ACCOUNT, storageKeys: Array.from({length: MAX_MULTI_KEYS}, () => "0x1")}]),
      -32005,
      excess,
    ],
    [multiCall(1, [{address: ACCOUNT}]), -32602, undefined],
    [multiCall(1, entries, null), -32602, undefined],
    [{...multiCall(1, entries), method: "chain_getMultiProofs"}, -32601, undefined],
  ] as const) {
    const {type, body} = await postForBytes(refused);
    assert.equal(type, "application/json");
    assertError(JSON.parse(body.toString()), code, data);
  }
  const named: Answer = await daemon.send(multiCall(1, [{address: ACCOUNT, storageKeys: ["0xzz"]}]));
  assertError(named, -32602);
  assert.match(
    named.error?.message as string,
    /params\[0\]\[0\]\.storageKeys\[0\]: expected 0x and 1.*, got "0xzz"/,
  );
});

const KEYS = ["0x1", "0x02", "0x9"];

test("the text of an answer is that of chain_getStateRoot and that of chain_getProof, in one envelope", async () => {
  for (const [address, keys] of [
    [ACCOUNT, []],
    [ACCOUNT, KEYS],
    [ABSENT_ACCOUNT, KEYS],
  ] as const) {
    for (let block = 0; block <= FINALIZED; block++) {
      const selector = `0x${block}`;
      const textOf = async (call: unknown): Promise<string> => {
        const {status, text} = await daemon.post(JSON.stringify(call));
        assert.equal(status, 200);
        return text.slice('{"jsonrpc":"2.0","id":7,"result":'.length, -1);
      };
      const root = await textOf({jsonrpc: "2.0", id: 7, method: "chain_getStateRoot", params: [selector]});
      const proof = await textOf(proofCall(7, address, keys, selector));
      const {text} = await daemon.post(JSON.stringify(proofAtCall(7, address, keys, selector)));
      assert.equal(
        text,
        `{"jsonrpc":"2.0","id":7,"result":{"unverified":true,"block":${root},"proof":${proof}}}`,
      );
    }
  }
});

test("selectors of chain_getStateRoot name any stored block", async () => {
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

test("every method takes a block's hash in place of its number", async () => {
  const hash = hashOfBlock(3);
  const table: [string, (block: string) => unknown[]][] = [
    ["chain_getProof", block => [ACCOUNT, ["0x1"], block]],
    ["chain_getProofAt", block => [ACCOUNT, [], block]],
    ["chain_getMultiProof", block => [[[ACCOUNT, ["0x1"]]], block]],
    ["chain_getLeaves", block => ["accounts", "0x0", "0x2", block]],
    ["chain_getChanges", block => ["accounts", block, block, "0x0", "0x10"]],
    ["chain_getStateRoot", block => [block]],
    ["chain_getHeader", block => [block]],
  ];
  for (const [method, params] of table) {
    const answers = await Promise.all(["0x3", hash].map(block => daemon.call(method, params(block))));
    assert.deepEqual(answers[1], answers[0], method);
  }
  assertError(await daemon.call("chain_getFinalizations", [hash]), -32602);
});

test("a block that is not in the store is -32001 with the coverage, one that is not finalized -32002", async () => {
  const coverage = {earliest: "0x0", finalized: "0x4"};
  const unknownHash = {blockHash: `0x${"12".repeat(32)}`};
  for (const block of ["0x7", "0xffffffffffffffffffff", unknownHash]) {
    assertError(await daemon.send(proofCall(1, ACCOUNT, [], block)), -32001, coverage);
    assertError(await daemon.call("chain_getStateRoot", [block]), -32001, coverage);
  }
  for (const block of ["0x5", "0x6", {blockHash: hashOfBlock(5)}])
    assertError(await daemon.send(proofCall(1, ACCOUNT, [], block)), -32002, {finalized: "0x4"});
});

test("1024 storage keys are one call, also behind a small one", async () => {
  const keys = Array.from({length: 1024}, (_, at) => `0x${at.toString(16)}`);
  const [small, large] = await daemon.send([proofCall(1), proofCall(2, ACCOUNT, keys)]);
  service.verify(FINALIZED, ACCOUNT, [], small);
  const proven = service.verify(FINALIZED, ACCOUNT, keys, large);
  assert.equal(proven.slots.length, 1024);
  assert.deepEqual(proven.slots.slice(2, 5), [0x22n, 0x33n, undefined]);
});
