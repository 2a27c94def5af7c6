/** The independent verifier: accepts the published proofs and the reference's, and nothing that differs from them. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import * as suites from "../../../../client/hash/hashSuites.ts";
import {type HashSuite, word} from "../../../../client/hash/hashSuites.ts";
import {P} from "../../../../client/hash/poseidon2.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import {verifyProof as verifyLeniently} from "../../../../client/proof/proofVerifier.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";
import {forgeAnswers} from "../../../support/reference/forgeries.ts";
import {listPlaces, readAt, writeAt} from "../../../support/reference/jsonPath.ts";
import {memoiseSuite} from "../../../support/reference/memoisedSuite.ts";
import {ReferenceState} from "../../../support/reference/referenceState.ts";
import {isSoak} from "../../../support/soak.ts";

const sha256Suite = memoiseSuite(suites.sha256Suite);
const poseidon2Suite = memoiseSuite(suites.poseidon2Suite);
const PRESENT = "0x2400000000000000000000000000000000000000";
const OTHER = "0x2900000000000000000000000000000000000000";
const ABSENT = "0x2f00000000000000000000000000000000000000";

/** Two accounts; PRESENT has slots 1 and 2 and has lost slot 3. */
function createState(suite: HashSuite): ReferenceState {
  const hashOf = (i: number) => encodeHex(word(i));
  return new ReferenceState(suite, [
    {number: "0x0", hash: hashOf(0), accounts: {[OTHER]: {balance: "0x5"}}},
    {
      number: "0x1",
      hash: hashOf(1),
      accounts: {
        [PRESENT]: {nonce: "0x7", code: "0x6001", storage: {"0x1": "0xa", "0x2": "0xb", "0x3": "0xc"}},
      },
    },
    {number: "0x2", hash: hashOf(2), accounts: {[PRESENT]: {storage: {"0x3": "0x0"}}}},
  ]);
}

/** A proof with an existing account, a slot that is there, one that is not, and one twice. */
const KEYS = ["0x1", "0x3", "0x01"];

test("a request that is none is refused, whatever the answer", () => {
  const state = createState(sha256Suite);
  const verify = (address: string, keys: string[]) =>
    verifyProof(
      sha256Suite,
      state.stateRoot(2),
      address,
      keys,
      state.prove(2, PRESENT, keys.length === 0 ? [] : ["0x1"]),
    );
  assert.throws(() => verify(`${PRESENT}00`, []), /expected an address of 20 bytes, got "0x24/);
  for (const key of ["1", "0x", `0x${"0".repeat(65)}`, "0x1g"])
    assert.throws(() => verify(PRESENT, [key]), /storage key/);
  assert.doesNotThrow(() => verify(PRESENT.toUpperCase().replace("X", "x"), [`0x${"1".padStart(64, "0")}`]));
});

test("a poseidon2 element with p added to it is refused, though it is the same element", () => {
  const state = createState(poseidon2Suite);
  const result = state.prove(2, PRESENT, []);
  for (const path of listPlaces(result)) {
    const text = readAt(result, path);
    if (typeof text !== "string" || path.at(-1) === "key") continue;
    const bytes = decodeHex(text);
    const view = new DataView(bytes.buffer);
    // All elements of the value and the leaf, the first and last of each other node.
    const isShort = path.includes("value") || path.includes("41") || path.includes("0");
    for (let at = 0; at < bytes.length; at += isShort ? 4 : bytes.length - 4) {
      // Words of the value other than the two digests are plain numbers: there it is another value, refused by its hash.
      if (view.getUint32(at) + P > 0xffffffff) continue;
      view.setUint32(at, view.getUint32(at) + P);
      const spoiled = structuredClone(result);
      writeAt(spoiled, path, encodeHex(bytes));
      // A safe word has limbs of two bytes, and what the hashing itself refuses is no ProofError.
      assert.throws(
        () => verifyProof(poseidon2Suite, state.stateRoot(2), PRESENT, [], spoiled),
        error =>
          error instanceof ProofError &&
          /not a digest of the suite|more than two bytes|does not hash to hVal/.test(error.rule),
        `${path.join(".")} ${at}`,
      );
      view.setUint32(at, view.getUint32(at) - P);
    }
  }
});

/** What the checks of docs/proofs.md, sections 5 and 6, say of answers in which one place is changed. */
const RULES = [
  /^result: expected an object, got null/,
  /^result: expected an object, got an array/,
  /^accountProof: the field key is missing/,
  /^storageProofs: expected an array, got an object/,
  /^storageProofs: expected 3 elements, got [24]/,
  /^storageProofs\[0\]\.key: expected 0x0+1, got/,
  /^accountProof\.key: expected 0x24/,
  ...[/got "3"/, /got 3\.5/, /got -3/, /got 1099511627776/].map(
    got => new RegExp(`^accountProof\\.proof: expected a leaf index of 0 to 2\\^40 - 1, ${got.source}`),
  ),
  /^storageProofs\[1\]\.leftProof: expected a leaf index of .*, got 0$/,
  /^accountProof\.proof: the path does not fold to the sub-root/,
  /\[20\]: expected 0x and lower-case hex of whole bytes, got "0x[^"]*[A-F]/,
  /\[20\]: expected 0x and lower-case hex of whole bytes, got "[0-9a-f]{2}/,
  /\[20\]: expected 64 bytes, got 65/,
  /\[40\]: expected 128 bytes, got 129/,
  /\[41\]: expected 128 bytes, got 32/,
  /\[39\]: expected 64 bytes, got 32/,
  /^storageProofs\[0\]\.proof\.value: expected 32 bytes, got 33/,
  /^accountProof\.proof\.value: expected 192 bytes, got 32/,
  /proofRelatedNodes: expected an array, got an object/,
  /proofRelatedNodes: expected 42 elements, got 4[13]/,
  /proofRelatedNodes\[0\]: does not hash to the trusted root/,
  /^storageProofs\[1\]\.leftProof: hKey of the left leaf is not below the key's/,
  /hKey of the leaf does not belong to the key/,
  /does not hash to hVal/,
];

test("an answer in which any one place is changed is refused, and each rule refuses some", () => {
  const state = createState(sha256Suite);
  const said: string[] = [];
  for (const address of [PRESENT, ABSENT]) {
    const answer = state.prove(2, address, KEYS);
    for (const {edit, answer: forged} of forgeAnswers(answer, !isSoak()))
      assert.throws(
        () => verifyLeniently(sha256Suite, state.stateRoot(2), address, KEYS, forged),
        error => error instanceof ProofError && said.push(error.message) > 0,
        JSON.stringify(edit),
      );
  }
  assert.ok(said.length > (isSoak() ? 5000 : 500), `${said.length} forgeries`);
  assert.deepEqual(
    RULES.filter(rule => !said.some(message => rule.test(message))),
    [],
  );
});

test("fields more and in another order prove nothing false, and the exact shape has none", () => {
  const state = createState(sha256Suite);
  const {accountProof, storageProofs} = state.prove(2, PRESENT, KEYS);
  assert.ok("leafIndex" in accountProof);
  const {key, leafIndex, proof} = accountProof;
  const {value, proofRelatedNodes} = proof;
  for (const answer of [
    {accountProof, storageProofs, more: 1},
    {storageProofs, accountProof},
    {accountProof: {leafIndex, key, proof}, storageProofs},
    {accountProof: {key, leafIndex, proof: {proofRelatedNodes, value}}, storageProofs},
    {accountProof: {...storageProofs[1], ...accountProof}, storageProofs},
  ]) {
    const check = [sha256Suite, state.stateRoot(2), PRESENT, KEYS, answer] as const;
    assert.equal(verifyLeniently(...check).account?.nonce, 7n);
    assert.throws(() => verifyProof(...check), /fields are/);
  }
});

test("an absent account's slots are refused from any storage but a new tree's", () => {
  const state = createState(sha256Suite);
  const emptied = state.prove(2, PRESENT, ["0x3"]).storageProofs;
  const {accountProof} = state.prove(2, ABSENT, []);
  assert.throws(
    () =>
      verifyProof(sha256Suite, state.stateRoot(2), ABSENT, ["0x3"], {accountProof, storageProofs: emptied}),
    /trusted root/,
  );
});
