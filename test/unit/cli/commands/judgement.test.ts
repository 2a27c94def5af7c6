/** `proofd verify` reads an answer in any form, and says of it what the verifier's vectors expect. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {parseAnswer} from "../../../../cli/commands/answerForm.ts";
import {chooseEntries, parseRequest} from "../../../../cli/commands/askedEntries.ts";
import {judge} from "../../../../cli/commands/judgement.ts";
import {decodeHex} from "../../../../client/bytes/hex.ts";
import {HASH_SUITES, type HashSuite} from "../../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import type {Proven} from "../../../../client/proof/proofVerifier.ts";
import {readFixture} from "../../../support/reference/fixtures.ts";
import {applyEdits} from "../../../support/reference/jsonPath.ts";
import {
  expectEntries,
  type VerifierVector,
  type VerifierVectors,
} from "../../../support/reference/verifierVectors.ts";

const HASH = `0x${"ab".repeat(32)}`;

/** The texts and bytes in which the proof may come. */
function writeForms({form, root}: VerifierVector, proof: unknown): (string | Uint8Array)[] {
  const response = JSON.stringify({jsonrpc: "2.0", id: 1, result: proof});
  if (form === "multiproof") return [JSON.stringify(proof), response];
  if (form === "answer") {
    const at = {block: {number: "0x5", hash: HASH, stateRoot: root, finalized: true}, proof};
    return [JSON.stringify(proof), response, JSON.stringify(at)];
  }
  const hex = proof as string;
  return [`${hex}\n`, JSON.stringify(hex), response, Buffer.from(hex.slice(2), "hex")];
}

function verify(
  suite: HashSuite,
  {root, request, form}: VerifierVector,
  input: string | Uint8Array,
): Proven[] {
  const parsed = parseAnswer(typeof input === "string" ? Buffer.from(input) : input);
  const given =
    form === "slots"
      ? {address: undefined, keys: request[0]?.storageKeys}
      : {entries: parseRequest({method: "chain_getMultiProof", params: [request, "latest"]})};
  const trusted = {root: decodeHex(root), by: "", block: {number: 5, hash: decodeHex(HASH)}};
  return judge(suite, parsed, chooseEntries(parsed, given), trusted).map(({proven}) => proven);
}

for (const suite of HASH_SUITES)
  test(`${suite.name}: every vector is judged as it expects, in each form`, () => {
    const {vectors} = readFixture<VerifierVectors>(`own/verifier-${suite.name}`);
    const proofs = new Map(vectors.map(({what, proof}) => [what, proof]));
    for (const vector of vectors) {
      const {what, forgeryOf, edits, expect} = vector;
      const proof = forgeryOf === undefined ? vector.proof : applyEdits(proofs.get(forgeryOf), edits ?? []);
      // Refused forgeries take most of the time, and are refused by the same code in each form.
      const forms = writeForms(vector, proof).slice(0, expect === "refused" ? 1 : undefined);
      for (const input of forms)
        if (expect === "refused") assert.throws(() => verify(suite, vector, input), ProofError, what);
        else assert.deepEqual(expectEntries(verify(suite, vector, input)), expect, what);
    }
  });

const {vectors} = readFixture<VerifierVectors>("own/verifier-sha256");
const [suite] = HASH_SUITES as readonly [HashSuite];
const SINGLE = vectors.find(({form, expect}) => form === "answer" && expect !== "refused") as VerifierVector;
const COMPACT = vectors.find(
  ({form, expect, request}) => form === "bytes" && expect !== "refused" && request.length === 1,
) as VerifierVector;
const [ASKED] = COMPACT.request as readonly [
  {readonly address: string; readonly storageKeys: readonly string[]},
];

test("an answer that repeats its request is verified for that, and for no other", () => {
  const compact = (entry: object) =>
    parseAnswer(Buffer.from(JSON.stringify({...entry, proof: COMPACT.proof})));
  const open = {address: undefined, keys: undefined};
  assert.deepEqual(chooseEntries(compact(ASKED), open), [ASKED]);
  const shouted = {...ASKED, address: `0x${ASKED.address.slice(2).toUpperCase()}`};
  assert.deepEqual(chooseEntries(compact(ASKED), {entries: [shouted]}), [shouted]);
  const single = parseAnswer(Buffer.from(JSON.stringify(SINGLE.proof)));
  const [{address, storageKeys}] = SINGLE.request as readonly [typeof ASKED];
  const [chosen] = chooseEntries(single, open);
  assert.equal(chosen?.address, address.toLowerCase());
  assert.deepEqual(chosen?.storageKeys.map(BigInt), storageKeys.map(BigInt));
  for (const form of [compact(ASKED), single]) {
    const stranger = {address: `0x${"99".repeat(20)}`, keys: undefined};
    assert.throws(() => chooseEntries(form, stranger), /^ProofError: answer: is that for account 0x/);
    const others = {address: undefined, keys: ["0x9", "0x9", "0x9"]};
    assert.throws(() => chooseEntries(form, others), /^ProofError: answer: is that for other storage keys/);
    assert.throws(() => chooseEntries(form, {entries: [ASKED, ASKED]}), /request: has 2 entries/);
  }
  const bytes = parseAnswer(decodeHex(COMPACT.proof));
  assert.throws(() => chooseEntries(bytes, open), /request: has no address: give --address/);
});

test("an answer of chain_getProofAt is refused if it names another block or root than the trusted one", () => {
  const at = (block: object) =>
    JSON.stringify({
      block: {number: "0x5", hash: HASH, stateRoot: SINGLE.root, ...block},
      proof: SINGLE.proof,
    });
  verify(suite, SINGLE, at({}));
  const refused = [
    [{number: "0x6"}, /^ProofError: block.number: is not 5$/],
    [{number: 5}, /^ProofError: block.number: is not 5$/],
    [{hash: SINGLE.root}, /^ProofError: block.hash: is not 0xabab/],
    [{stateRoot: HASH}, /^ProofError: block.stateRoot: is not 0x/],
    [{stateRoot: undefined}, /^ProofError: block: has no stateRoot$/],
  ] as const;
  for (const [block, error] of refused) assert.throws(() => verify(suite, SINGLE, at(block)), error);
});

test("an answer of the other suite is refused with the flag that is missing", () => {
  const good = ({form, expect}: VerifierVector) => form === "answer" && expect !== "refused";
  for (const [asked, other] of [HASH_SUITES, HASH_SUITES.toReversed()] as [HashSuite, HashSuite][])
    for (const vector of readFixture<VerifierVectors>(`own/verifier-${other.name}`).vectors.filter(good))
      assert.throws(
        () => verify(asked, vector, JSON.stringify(vector.proof)),
        new RegExp(`a root node of the suite ${other.name}; it was verified with --suite ${asked.name}$`),
      );
});

test("what is no answer is refused with what is expected", () => {
  const error = {code: -32001, message: "block 0x9 is not held\u001b[31m\n here"};
  const refused: readonly (readonly [unknown, RegExp])[] = [
    ["", /answer: is empty; expected is the JSON/],
    ["{", /answer: is not JSON and does not begin with 0x/],
    ["null", /answer: is none; /],
    ["[{}]", /answer: is an array; expected is one answer of a batch/],
    ['{"result":1}', /answer: has no accountProof, accountTree or proof; /],
    ['{"jsonrpc":"2.0","result":{"jsonrpc":"2.0"}}', /answer: its result is a response again/],
    [JSON.stringify({jsonrpc: "2.0", id: 1, error}), /server: -32001, block 0x9 is not held \[31m +here$/],
    ['{"jsonrpc":"2.0","id":1}', /server: without a code, without a message$/],
    ["0x01G0", /answer: not lower-case 0x hex of whole bytes$/],
    ["0x03", /byte 0: is 0x03, expected is 0x01 or 0x02$/],
    ["0x", /byte 0: is 0x, expected is 0x01 or 0x02$/],
    [JSON.stringify({...ASKED, proof: "0x02"}), /byte 0: is 0x02, expected is 0x01$/],
    [JSON.stringify({...ASKED, address: "0x1", proof: "0x01"}), /^ProofError: address: is not 0x and 40/],
    [JSON.stringify({...ASKED, storageKeys: [1], proof: "0x01"}), /^ProofError: storageKeys: are not each/],
  ];
  for (const [text, message] of refused)
    assert.throws(() => parseAnswer(Buffer.from(text as string)), message);
});

test("a request is read from its JSON, with or without its method", () => {
  const {address, storageKeys} = ASKED;
  const entry = {address, storageKeys};
  for (const json of [
    entry,
    [entry],
    {jsonrpc: "2.0", id: 1, method: "chain_getProof", params: [address, storageKeys, "latest"]},
    {method: "chain_getMultiProof", params: [[entry], "latest"]},
  ])
    assert.deepEqual(parseRequest(json), [entry]);
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [[], /request: has 0 entries; expected are 1 to 16384/],
    [{params: {}}, /request: params is not an array/],
    [{params: ["latest"]}, /request\[0\]: address is not 0x and 40 hex digits/],
    [[{address, storageKeys: ["1"]}], /request\[0\]: storageKeys are not each 0x/],
    [null, /request\[0\]: not an object/],
  ];
  for (const [json, message] of refused) assert.throws(() => parseRequest(json), message);
});
