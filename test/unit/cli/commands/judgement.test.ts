/** `proofd verify` reads a request and an answer, and says of them what the verifier's vectors expect. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {type AskedCall, parseRequest, readResults} from "../../../../cli/commands/askedCalls.ts";
import {judge, type ProvenEntry} from "../../../../cli/commands/judgement.ts";
import {decodeHex} from "../../../../client/bytes/hex.ts";
import {HASH_SUITES, type HashSuite} from "../../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import type {Proven} from "../../../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../../../client/proof/request.ts";
import {applyEdits} from "../../../support/reference/jsonPath.ts";
import {readVectors} from "../../../support/reference/ownVectors.ts";
import {
  expectEntries,
  type VerifierVector,
  type VerifierVectors,
} from "../../../support/reference/verifierVectors.ts";
import {sampleOf} from "../../../support/soak.ts";

const HASH = `0x${"ab".repeat(32)}`;
/** Text that would be a line of its own, and 1 MB. */
const FAKE = "0x5\nVERIFIED: 1 account".padEnd(1_000_000, ".");

/** The texts and bytes in which the proof may come. */
function writeAnswers({form, root}: VerifierVector, proof: unknown): (string | Uint8Array)[] {
  const respond = (result: unknown) => JSON.stringify({jsonrpc: "2.0", id: 1, result});
  if (form === "bytes") return [respond(proof), Buffer.from((proof as string).slice(2), "hex")];
  const block = {number: "0x5", hash: HASH, stateRoot: root, finalized: true};
  return [respond(proof), respond({block, proof})];
}

function ask(id: number, {request}: VerifierVector): object {
  return {jsonrpc: "2.0", id, method: "chain_getMultiProof", params: [request, "latest"]};
}

function verify(
  suite: HashSuite,
  vector: VerifierVector,
  answer: string | Uint8Array,
): readonly ProvenEntry[] {
  const asked = parseRequest(ask(1, vector));
  const [result] = readResults(Buffer.from(answer), asked);
  const trusted = {root: decodeHex(vector.root), by: "", block: {number: 5, hash: decodeHex(HASH)}};
  return judge(suite, asked.calls[0] as AskedCall, result, trusted);
}

const {vectors} = readVectors<VerifierVectors>("verifier", "sha256");
const [suite] = HASH_SUITES as readonly [HashSuite];
const SINGLE = vectors.find(({form, expect}) => form === "answer" && expect !== "refused") as VerifierVector;
const BYTES = vectors.filter(({form, expect}) => form === "bytes" && expect !== "refused");

test("vectors of accounts are judged as they expect, in each form", () => {
  const proofs = new Map(vectors.map(({what, proof}) => [what, proof]));
  // Which forgeries are refused is the verifier's matter.
  const accounts = vectors.filter(({form}) => form !== "slots");
  const refusals = accounts.filter(({expect}) => expect === "refused");
  for (const vector of [...accounts.filter(({expect}) => expect !== "refused"), ...sampleOf(refusals, 20)]) {
    const {what, forgeryOf, edits, expect} = vector;
    const proof = forgeryOf === undefined ? vector.proof : applyEdits(proofs.get(forgeryOf), edits ?? []);
    for (const input of writeAnswers(vector, proof))
      if (expect === "refused") assert.throws(() => verify(suite, vector, input), ProofError, what);
      else assert.deepEqual(expectEntries(verify(suite, vector, input) as readonly Proven[]), expect, what);
  }
});

test("a batch is verified call by call, in any order of its responses", () => {
  const batch = [...BYTES, SINGLE];
  const asked = parseRequest(batch.map((vector, id) => ask(id, vector)));
  const responses = batch.map(({proof}, id) => ({jsonrpc: "2.0", id, result: proof})).reverse();
  const results = readResults(Buffer.from(JSON.stringify(responses)), asked);
  assert.deepEqual(
    results,
    batch.map(({proof}) => proof),
  );
  assert.deepEqual(
    asked.calls.map(({entries}) => entries),
    batch.map(({request}) => request),
  );
  const read = (answer: unknown) => readResults(Buffer.from(JSON.stringify(answer)), asked);
  assert.throws(
    () => read(responses.slice(1)),
    /^ProofError: answer to the call \d+: expected a JSON-RPC resp/,
  );
  assert.throws(
    () => read(responses[0]),
    /^ProofError: answer: expected an array of \d+ responses, got no arr/,
  );
  assert.throws(
    () => readResults(Buffer.of(1), asked),
    /^ProofError: answer: expected \d+ responses, got proof/,
  );
});

test("an answer of chain_getProofAt is refused if it names another block or root than the trusted one", () => {
  const at = (block: object) =>
    JSON.stringify({
      result: {block: {number: "0x5", hash: HASH, stateRoot: SINGLE.root, ...block}, proof: SINGLE.proof},
    });
  verify(suite, SINGLE, at({}));
  const refused = [
    [{number: "0x6"}, /^ProofError: block.number: expected 0x5, got "0x6"$/],
    [{number: 5}, /^ProofError: block.number: expected 0x5, got 5$/],
    [{number: {toString: 1}}, /^ProofError: block.number: expected 0x5, got an object$/],
    [{number: FAKE}, /^ProofError: block.number: expected 0x5, got "0x5 VERIFIED: 1 account\.{60}"$/],
    [{hash: FAKE}, /^ProofError: block.hash: expected 0xabab\w+, got "0x5 VERIFIED: 1 account\.{60}"$/],
    [{stateRoot: FAKE}, /^ProofError: block.stateRoot: expected 0x.*, got "0x5 VERIFIED: 1 account\.{60}"$/],
    [{hash: {toString: 1}}, /^ProofError: block.hash: expected 0xabab\w+, got an object$/],
    [{hash: SINGLE.root}, /^ProofError: block.hash: expected 0xabab/],
    [{stateRoot: HASH}, /^ProofError: block.stateRoot: expected 0x/],
    [{stateRoot: undefined}, /^ProofError: block: the field stateRoot is missing$/],
  ] as const;
  for (const [block, error] of refused) assert.throws(() => verify(suite, SINGLE, at(block)), error);
});

// One way round: the vectors of poseidon2 take seconds to make.
test("an answer of the other suite is refused with the flag that is missing", () => {
  const asked = HASH_SUITES.at(-1) as HashSuite;
  for (const vector of vectors.filter(({form, expect}) => form === "answer" && expect !== "refused"))
    assert.throws(
      () => verify(asked, vector, JSON.stringify({result: vector.proof})),
      new RegExp(`a root node of the suite ${suite.name}; it was verified with --suite ${asked.name}$`),
    );
});

test("what is no answer is refused with what is expected", () => {
  const error = {code: -32001, message: "block 0x9 is not held\u001b[31m\n here"};
  const refused: readonly (readonly [string | Buffer, RegExp])[] = [
    ["", /answer: expected a JSON-RPC response or proof bytes, got nothing$/],
    ["{", /answer: expected a JSON-RPC response or proof bytes, got text that is not JSON$/],
    ["null", /answer: expected a JSON-RPC response, got none$/],
    ["[{}]", /answer: expected one response, got a batch$/],
    ['{"jsonrpc":"2.0"}', /answer: expected a JSON-RPC response, got an object without result$/],
    [JSON.stringify({jsonrpc: "2.0", id: 1, error}), /server: -32001, block 0x9 is not held \[31m +here$/],
    ['{"jsonrpc":"2.0","id":1,"error":7}', /server: without a code, without a message$/],
    ['{"result":"0x01G0"}', /result: expected 0x and lower-case hex of whole bytes, got "0x01G0"$/],
    ['{"result":"0x03"}', /byte 0: expected 1, for a proof of accounts, got [23]$/],
    [Buffer.of(2, 0), /byte 0: expected 1, for a proof of accounts, got [23]$/],
    ['{"result":1}', /result: expected an object, got 1$/],
    ['{"result":{"block":{}}}', /block: the field number is missing$/],
  ];
  for (const [answer, message] of refused) assert.throws(() => verify(suite, SINGLE, answer), message);
  const many = BYTES.find(({request}) => request.length > 1) as VerifierVector;
  assert.throws(
    () => verify(suite, many, '{"result":{}}'),
    /result: expected one proof of \d entries in hex, got other JSON$/,
  );
});

test("a request is read from its JSON", () => {
  const [entry] = SINGLE.request as readonly [ProofRequest];
  const {address, storageKeys} = entry;
  for (const params of [
    [address, storageKeys, "latest"],
    [[entry], "latest"],
  ])
    assert.deepEqual(parseRequest({jsonrpc: "2.0", id: 1, params}), {
      isBatch: false,
      calls: [{id: 1, entries: [entry], isTrie: false}],
    });
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [[], /request: expected at least one call, got an empty batch/],
    [{params: {}}, /request.params: expected an array/],
    [{params: ["0x1"]}, /request.entries\[0\]: expected an array of storageKeys/],
    [[{params: [address, [1]]}], /request\[0\].entries\[0\]: expected storage keys as text/],
    [{params: [[{address: [address], storageKeys}]]}, /request.entries\[0\]: expected an address as text/],
    [entry, /request: the field params is missing/],
    [null, /request: expected an object, got null/],
  ];
  for (const [json, message] of refused) assert.throws(() => parseRequest(json), message);
});
