/** chain_getMultiProof over a real socket: what it proves, in which form, in which order, and what it refuses. */
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
import {ABSENT_ACCOUNT, ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import {proofCall} from "../../support/http/wireRequests.ts";

const ACCOUNT = ACCOUNTS[0] as string;
const BYTES_TYPE = "application/octet-stream";

let service: ProvenService;
let daemon: OwnService;

before(async () => {
  service = await ProvenService.start();
  daemon = service.daemon;
});

after(() => service.stop());

function multiCall(id: unknown, entries: unknown, block: unknown = "latest") {
  return {jsonrpc: "2.0", id, method: "chain_getMultiProof", params: [entries, block]};
}

/** Sends a body that accepts bytes. */
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

/** What the single proofs of the entries prove. */
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

test("a batch mixes multiproofs with other calls, in order", async () => {
  const calls = Array.from({length: 60}, (_, id) => {
    if (id % 3 === 0) return multiCall(id, REQUEST.slice(id % 7), `0x${id % (FINALIZED + 1)}`);
    return id % 3 === 1 ? proofCall(id, ACCOUNT, ["0x1"]) : multiCall(id, id % 2 === 0 ? [] : "none");
  });
  const answers: Answer[] = await daemon.send(calls);
  for (const [id, answer] of answers.entries()) {
    assert.equal(answer.id, id);
    if (id % 3 === 0) verify(id % (FINALIZED + 1), REQUEST.slice(id % 7), answer.result);
    else if (id % 3 === 1) service.verify(FINALIZED, ACCOUNT, ["0x1"], answer);
    else assertError(answer, -32602);
  }
});

test("it costs one for each entry and key", async () => {
  const entries = REQUEST.slice(0, 3);
  const batch = Array.from({length: 2}, (_, id) => multiCall(id, entries));
  const folder = await WorkFolder.create();
  const db = await folder.importChain("db", FINALIZED, FINALIZED);
  const limited = await OwnService.start({db, limits: {requestCost: 17}});
  try {
    const whole: Answer = await limited.send(multiCall(1, entries));
    verify(FINALIZED, entries, whole.result);
    assertError(await limited.send(batch), -32005, {limit: 17, got: 18});
  } finally {
    await limited.stop();
    await folder.remove();
  }
});

test("it is counted under its own name", async () => {
  const read = (code: number) =>
    daemon.readMetric(`proofd_calls_total{method="chain_getMultiProof",code="${code}"}`);
  const [results, errors] = [await read(0), await read(-32602)];
  await daemon.send([multiCall(1, REQUEST), multiCall(2, []), multiCall(3, REQUEST)]);
  await postForBytes(multiCall(4, REQUEST));
  assert.equal(await read(0), results + 3);
  assert.equal(await read(-32602), errors + 1);
});
