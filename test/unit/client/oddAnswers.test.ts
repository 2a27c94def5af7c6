/** Values of a wrong type in answers and requests: each verifier refuses them with ProofError, as it refuses forgeries. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {
  compact,
  compactAnswers,
  compactSlots,
  decodeAccount,
  openAnswer,
  type ProofEntry,
  ProofError,
  sha256Suite,
  verifyAbsence,
  verifyAccount,
  verifyChanges,
  verifyCompact,
  verifyEthMultiProof,
  verifyEthProof,
  verifyHeader,
  verifyLeaves,
  verifyMultiProof,
  verifyProof,
  verifySlot,
  verifySlots,
} from "../../../client/client.ts";
import {EthState} from "../../support/reference/ethState.ts";
import {applyEdits, listPlaces, readAt} from "../../support/reference/jsonPath.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";

const ADDRESS = `0x${"24".repeat(20)}`;
const KEYS = ["0x1", "0x3"];
const state = new ReferenceState(sha256Suite, [
  {
    number: "0x0",
    hash: `0x${"12".repeat(32)}`,
    accounts: {[ADDRESS]: {nonce: "0x7", storage: {"0x1": "0xa"}}},
  },
]);
const root = state.stateRoot(0);
const answer = state.prove(0, ADDRESS, KEYS);
const storageRoot = decodeHex(verifyProof(sha256Suite, root, ADDRESS, KEYS, answer).account?.storageRoot);
const eth = await EthState.create(
  new Map([[ADDRESS, {nonce: 7n, balance: 5n, slots: new Map([[1n, 10n]])}]]),
);

/** Answers of chain_getLeaves and chain_getChanges that name the trusted root, up to their trees. */
const [LEAVES, CHANGES] = [
  [3, 1],
  [4, 2],
].map(([first, blocks]) => {
  const block = [...new Uint8Array(38), ...root];
  return Uint8Array.from([
    first as number,
    ...Array.from({length: blocks as number}, () => block).flat(),
    ...new Array(40).fill(0),
  ]);
}) as [Uint8Array, Uint8Array];

/** In place of an answer's value, or of a part of it. */
const ODDITIES: Readonly<Record<string, (value: unknown) => unknown>> = {
  "an array of holes": value => new Array(Array.isArray(value) ? value.length : 1),
  "a longest array": () => new Array(2 ** 32 - 1),
  "an object for a text": value => ({toString: () => value, length: 2}),
  "an array around a text": value => [value],
  "a function": () => () => {},
  "a symbol": () => Symbol("s"),
  nothing: () => undefined,
};

/** Every place, but of a list of nodes only the first ones and the last. */
function placesOf(value: unknown): (readonly string[])[] {
  return listPlaces(value).filter(path => {
    const i = Number(path.at(-1));
    return !(i > 1) || i === (readAt(value, path.slice(0, -1)) as unknown[]).length - 1;
  });
}

/** @param isOptional - where undefined or null says the same as what the answer has */
function refusesOddities<Given>(
  given: Given,
  verify: (given: Given) => unknown,
  isOptional: (path: readonly string[]) => boolean = () => false,
): void {
  verify(given);
  for (const path of placesOf(given))
    for (const [name, makeOdd] of Object.entries(ODDITIES)) {
      const part = readAt(given, path);
      if (name === "nothing" && isOptional(path)) continue;
      const odd = applyEdits(given, [{path, value: makeOdd(part)}]) as Given;
      assert.throws(() => verify(odd), ProofError, `${name} at ${path.join(".")}`);
    }
}

test("answers of chain_getProof, and parts of them", () => {
  refusesOddities<unknown>(answer, odd => verifyProof(sha256Suite, root, ADDRESS, KEYS, odd));
  const {accountProof, storageProofs} = answer;
  refusesOddities<unknown>(accountProof, odd => verifyAccount(sha256Suite, root, ADDRESS, odd));
  refusesOddities<unknown>(storageProofs[0], odd => verifySlot(sha256Suite, storageRoot, "0x1", odd));
  refusesOddities<unknown>(storageProofs[1], odd =>
    verifyAbsence(sha256Suite, storageRoot, {slot: "0x3"}, odd),
  );
  refusesOddities<unknown>(answer, odd =>
    openAnswer(sha256Suite, {address: ADDRESS, storageKeys: KEYS}, odd),
  );
});

test("answers of eth_getProof", async () => {
  const given = await eth.prove(ADDRESS, KEYS);
  refusesOddities<unknown>(given, odd => verifyEthProof(eth.root, ADDRESS, KEYS, odd));
});

test("requests: a hole is no key that is proven absent", () => {
  const holes: string[] = [];
  holes[1] = "0x3";
  assert.throws(() => verifyProof(sha256Suite, root, ADDRESS, holes, answer), ProofError);
  refusesOddities(KEYS, keys => verifyProof(sha256Suite, root, ADDRESS, keys, answer));
  refusesOddities(KEYS, keys => compactSlots(sha256Suite, keys, answer.storageProofs));
  refusesOddities(ADDRESS, address => verifyProof(sha256Suite, root, address, KEYS, answer));
  const isKeys = (path: readonly string[]) => path.at(-1) === "storageKeys";
  const request: ProofEntry[] = [{address: ADDRESS, storageKeys: KEYS}];
  const proof = compact(sha256Suite, request[0] as ProofEntry, answer);
  refusesOddities(request, odd => verifyMultiProof(sha256Suite, root, odd, proof), isKeys);
  const slots = compactSlots(sha256Suite, KEYS, answer.storageProofs);
  refusesOddities(KEYS, keys => verifySlots(sha256Suite, storageRoot, keys, slots));
});

test("roots, and requests for leaves and changes", async () => {
  const proof = compact(sha256Suite, {address: ADDRESS, storageKeys: KEYS}, answer);
  const given = await eth.prove(ADDRESS, KEYS);
  const {accountProof, storageProofs} = answer;
  const entry = {address: ADDRESS, storageKeys: KEYS};
  const ofRoots: readonly ((root: Uint8Array) => unknown)[] = [
    one => verifyProof(sha256Suite, one, ADDRESS, KEYS, answer),
    one => verifyAccount(sha256Suite, one, ADDRESS, accountProof),
    one => verifySlot(sha256Suite, one, "0x1", storageProofs[0]),
    one => verifyAbsence(sha256Suite, one, {slot: "0x3"}, storageProofs[1]),
    one => verifyMultiProof(sha256Suite, one, [entry], proof),
    one => verifySlots(sha256Suite, one, KEYS, compactSlots(sha256Suite, KEYS, storageProofs)),
    one => verifyEthProof(one, ADDRESS, KEYS, given),
    one => verifyEthMultiProof(one, [entry], proof),
    one => verifyLeaves(sha256Suite, one, {tree: "accounts", from: 0, count: 1}, LEAVES),
    one => verifyChanges(sha256Suite, {from: one, to: root}, {tree: "all", cursor: 0n, count: 1}, CHANGES),
    one => verifyHeader(one, new Uint8Array(3)),
  ];
  const odd = [null, undefined, 7, "0x12", [], {}, Symbol("s")] as unknown[];
  for (const [i, verify] of ofRoots.entries())
    for (const one of odd) assert.throws(() => verify(one as Uint8Array), ProofError, `${i}: ${String(one)}`);
  for (const one of odd) {
    const asked = one as never;
    for (const verify of [
      () => verifyAbsence(sha256Suite, root, asked, answer.accountProof),
      () => verifyLeaves(sha256Suite, root, asked, LEAVES),
      () => verifyLeaves(sha256Suite, root, {tree: "accounts", from: 0, count: asked}, LEAVES),
      () => verifyLeaves(sha256Suite, root, {tree: asked, from: 0, count: 1}, LEAVES),
      () => verifyChanges(sha256Suite, asked, {tree: "all", cursor: 0n, count: 1}, CHANGES),
      () => verifyChanges(sha256Suite, {from: root, to: root}, asked, CHANGES),
      () =>
        verifyChanges(sha256Suite, {from: root, to: root}, {tree: "all", cursor: asked, count: 1}, CHANGES),
      () => compactAnswers(sha256Suite, asked, [answer]),
      () => compactAnswers(sha256Suite, [entry], asked),
    ])
      assert.throws(verify, ProofError, `${verify} of ${String(one)}`);
  }
});

test("bytes", () => {
  const request = {address: ADDRESS, storageKeys: KEYS};
  const proof = compact(sha256Suite, request, answer);
  const {value} = (answer.accountProof as {proof: {value: string}}).proof;
  const ofBytes: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
    verifyCompact: bytes => verifyCompact(sha256Suite, root, request, bytes),
    verifySlots: bytes => verifySlots(sha256Suite, root, KEYS, bytes),
    verifyLeaves: bytes => verifyLeaves(sha256Suite, root, {tree: "accounts", from: 0, count: 1}, bytes),
    verifyChanges: bytes =>
      verifyChanges(sha256Suite, {from: root, to: root}, {tree: "all", cursor: 0n, count: 1}, bytes),
    verifyEthMultiProof: bytes => verifyEthMultiProof(root, [request], bytes),
    verifyHeader: bytes => verifyHeader(root, bytes),
    decodeAccount: bytes => decodeAccount(sha256Suite, bytes),
  };
  const account = decodeHex(value);
  for (const [name, verify] of Object.entries(ofBytes)) {
    const bytes = name === "decodeAccount" ? account : proof;
    const odd = [...Object.values(ODDITIES).map(makeOdd => makeOdd(bytes)), [...bytes], bytes.buffer];
    for (const one of [...odd, new DataView(bytes.buffer), 7, null])
      assert.throws(() => verify(one as Uint8Array), ProofError, name);
  }
  assert.deepEqual(
    verifyCompact(sha256Suite, root, request, Buffer.from(proof)),
    verifyCompact(sha256Suite, root, request, encodeHex(proof)),
  );
});
