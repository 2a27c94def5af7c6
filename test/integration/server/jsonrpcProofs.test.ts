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
import {
  ABSENT_ACCOUNT,
  ACCOUNTS,
  CHAIN_ID,
  hashOfBlock,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import {proofAtCall, proofCall} from "../../support/http/wireRequests.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";

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

const KEYS = ["0x1", "0x02", "0x9"];

interface ProofAt {
  readonly block: {
    readonly number: string;
    readonly hash: string;
    readonly stateRoot: string;
    readonly finalized: boolean;
  };
  readonly proof: unknown;
}

/** Against the root that the answer itself names. */
function verifyAt(address: string, keys: readonly string[], {result}: Answer) {
  const {block, proof} = result as ProofAt;
  return verifyProof(sha256Suite, decodeHex(block.stateRoot), address, keys, proof);
}

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

test("the root in an answer verifies the proof in it, of accounts and slots present and absent", async () => {
  const present = verifyAt(ACCOUNT, KEYS, await daemon.send(proofAtCall(1, ACCOUNT, KEYS)));
  assert.notEqual(present.account, undefined);
  assert.deepEqual(present.slots.slice(1), [0x22n, undefined]);
  const absent = verifyAt(
    ABSENT_ACCOUNT,
    ["0x1"],
    await daemon.send(proofAtCall(1, ABSENT_ACCOUNT, ["0x1"])),
  );
  assert.equal(absent.account, undefined);
  assert.deepEqual(absent.slots, [undefined]);
});

test("a batch mixes proofs with and without their block, in order, under ids of every kind", async () => {
  const ids = ["1", "9007199254740991", '""', '"\u00e9\ud83d\ude00"'];
  const textOf = (method: string, id: string, address: string, block: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":["${address}",["0x1"],"${block}"]}`;
  const calls = Array.from({length: 400}, (_, at) => ({
    method: at % 3 === 0 ? "chain_getProofAt" : "chain_getProof",
    id: ids[at % ids.length] as string,
    address: at % 5 === 4 ? ABSENT_ACCOUNT : (ACCOUNTS[at % ACCOUNTS.length] as string),
    block: at % (FINALIZED + 1),
  }));
  const texts = calls.map(({method, id, address, block}) => textOf(method, id, address, `0x${block}`));
  const {text} = await daemon.post(`[${texts.join(",")}]`);
  const singles: string[] = [];
  for (const one of texts) singles.push((await daemon.post(one)).text);
  assert.ok(text === `[${singles.join(",")}]`, "a batch is what its calls are alone");
  for (const [at, {method, id, address, block}] of calls.entries()) {
    assert.ok(singles[at]?.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`));
    const answer: Answer = JSON.parse(singles[at] as string);
    if (method === "chain_getProof") service.verify(block, address, ["0x1"], answer);
    else assert.equal((answer.result as ProofAt).block.number, `0x${block}`);
  }
});

test("what chain_getProof refuses is refused in the same words", async () => {
  const many = Array.from({length: 1025}, () => "0x1");
  const paramsList: unknown[] = [
    [],
    [ACCOUNT, []],
    [ACCOUNT, [], null],
    ["0x12", [], "latest"],
    [ACCOUNT, ["0xzz"], "latest"],
    [ACCOUNT, many, "latest"],
    [ACCOUNT, [], `0x${LATEST}`],
    [ACCOUNT, [], "0x99"],
    [ACCOUNT, [], {blockHash: `0x${"12".repeat(32)}`}],
  ];
  for (const params of paramsList) {
    const [plain, at] = [
      await daemon.call("chain_getProof", params),
      await daemon.call("chain_getProofAt", params),
    ];
    assert.notEqual(plain.error, undefined);
    assert.deepEqual(at, plain);
  }
  const named = await daemon.call("chain_getProofAt", {address: ACCOUNT});
  assertError(named, -32602);
  assert.match(
    named.error.message,
    /params of chain_getProofAt: expected the array \[address, storageKeys, block\], got an object/,
  );
});

test("it costs what chain_getProof costs, and is counted under its own name", async () => {
  const read = (method: string, code: number) =>
    daemon.readMetric(`proofd_calls_total{method="${method}",code="${code}"}`);
  const before = [await read("chain_getProof", 0), await read("chain_getProofAt", 0)];
  const answers: Answer[] = await daemon.send([
    proofCall(1),
    proofAtCall(2),
    {jsonrpc: "2.0", id: 3, method: "chain_chainId"},
    proofAtCall(4),
    proofAtCall(5, "0x12"),
  ]);
  assertError(answers[4] as Answer, -32602);
  assert.equal(await read("chain_getProof", 0), (before[0] as number) + 1);
  assert.equal(await read("chain_getProofAt", 0), (before[1] as number) + 2);
  const keys = Array.from({length: 1024}, () => "0x1");
  const refused = await read("chain_getProofAt", -32005);
  const costly = await daemon.send(Array.from({length: 20}, (_, id) => proofAtCall(id, ACCOUNT, keys)));
  assertError(costly, -32005, {limit: 20_000, got: 20_500});
  assert.equal(await read("chain_getProofAt", -32005), refused + 1);
});

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
