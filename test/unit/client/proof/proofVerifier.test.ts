/** The independent verifier: accepts the published proofs and the reference's, and nothing that differs from them. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import * as suites from "../../../../client/hash/hashSuites.ts";
import {type HashSuite, word} from "../../../../client/hash/hashSuites.ts";
import {P} from "../../../../client/hash/poseidon2.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import {randomChains} from "../../../support/chains/randomBlocks.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";
import {listPaths, readAt, writeAt} from "../../../support/reference/jsonPath.ts";
import {memoiseSuite} from "../../../support/reference/memoisedSuite.ts";
import {ReferenceState} from "../../../support/reference/referenceState.ts";
import {SPOILED_PROOFS, type ValidAnswer} from "../../../support/reference/spoiledProofs.ts";
import {propertyRuns} from "../../../support/soak.ts";

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

/** @param nibble - counted from the first digit of a text, from the lowest of a number; @param by - 1..15 */
function flipNibble(value: unknown, nibble: number, by: number): string | number {
  if (typeof value === "number") return Number(BigInt(value) ^ (BigInt(by) << BigInt(4 * nibble)));
  const text = value as string;
  const digit = Number.parseInt(text.charAt(2 + nibble), 16) ^ by;
  return text.slice(0, 2 + nibble) + digit.toString(16) + text.slice(3 + nibble);
}

/** Digits of a text; of an index 10, and one more to leave its 40 bits. */
function countNibbles(value: unknown): number {
  return typeof value === "string" ? value.length - 2 : 11;
}

for (const suite of [sha256Suite, poseidon2Suite]) {
  const state = createState(suite);
  const root = state.stateRoot(2);

  test(`${suite.name}: a proof of the reference is accepted, and says what the state holds`, () => {
    const {account, slots} = verifyProof(suite, root, PRESENT, KEYS, state.prove(2, PRESENT, KEYS));
    assert.equal(account?.nonce, 7n);
    assert.equal(account?.balance, 0n);
    assert.equal(account?.codeSize, 2n);
    assert.equal(account?.leafIndex, 3);
    assert.deepEqual(slots, [10n, undefined, 10n]);
  });

  test(`${suite.name}: an absent account is proven absent with all its slots`, () => {
    const proven = verifyProof(suite, root, ABSENT, KEYS, state.prove(2, ABSENT, KEYS));
    assert.deepEqual(proven, {account: undefined, slots: [undefined, undefined, undefined]});
  });

  test(`${suite.name}: every key at every block of a random chain is proven as the state has it`, () => {
    fc.assert(
      fc.property(randomChains({maxBlocks: 6}), chain => {
        const random = new ReferenceState(suite, chain.lines);
        const keys = chain.slots.map(slot => `0x${slot.toString(16)}`);
        const addresses = suite === sha256Suite ? chain.addresses : chain.addresses.slice(0, 2);
        for (let block = 0; block <= random.latest; block++) {
          for (const address of addresses) {
            const held = random.readAccount(block, address);
            const proven = verifyProof(
              suite,
              random.stateRoot(block),
              address,
              keys,
              random.prove(block, address, keys),
            );
            assert.equal(proven.account?.balance, held?.balance);
            assert.equal(proven.account?.nonce, held?.nonce);
            assert.deepEqual(
              proven.slots.map(value => value ?? 0n),
              chain.slots.map(slot => random.readSlot(block, address, slot)),
            );
          }
        }
      }),
      {numRuns: suite === sha256Suite ? propertyRuns(3) : 1},
    );
  });

  test(`${suite.name}: one digit changed anywhere in a valid proof makes it invalid`, () => {
    const cases = [PRESENT, ABSENT].map(address => ({address, result: state.prove(2, address, KEYS)}));
    const flips = fc.record({
      case: fc.constantFrom(...cases),
      path: fc.nat(),
      nibble: fc.nat(),
      by: fc.integer({min: 1, max: 15}),
    });
    fc.assert(
      fc.property(flips, ({case: {address, result}, path: pathSeed, nibble, by}) => {
        const paths = listPaths(result);
        const path = paths[pathSeed % paths.length] as readonly string[];
        const spoiled = structuredClone(result);
        const value = readAt(result, path);
        writeAt(spoiled, path, flipNibble(value, nibble % countNibbles(value), by));
        assert.throws(() => verifyProof(suite, root, address, KEYS, spoiled), ProofError, path.join("."));
      }),
      {numRuns: propertyRuns(suite === sha256Suite ? 200 : 10)},
    );
  });

  test(`${suite.name}: another root, address or key is not proven by a valid proof`, () => {
    const result = state.prove(2, PRESENT, KEYS);
    assert.throws(() => verifyProof(suite, state.stateRoot(1), PRESENT, KEYS, result), /trusted root/);
    assert.throws(() => verifyProof(suite, root, OTHER, KEYS, result), /accountProof\.key: is not/);
    assert.throws(
      () => verifyProof(suite, root, PRESENT, ["0x1", "0x2", "0x1"], result),
      /storageProofs\[1\]\.key/,
    );
    assert.throws(() => verifyProof(suite, root, PRESENT, ["0x1"], result), /3 entries for 1 keys/);
    assert.throws(() => verifyProof(suite, root, PRESENT, [...KEYS, "0x1"], result), /3 entries for 4 keys/);
  });
}

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
  assert.throws(() => verify(`${PRESENT}00`, []), /address is not 20 bytes/);
  for (const key of ["1", "0x", `0x${"0".repeat(65)}`, "0x1g"])
    assert.throws(() => verify(PRESENT, [key]), /storage key/);
  assert.doesNotThrow(() => verify(PRESENT.toUpperCase().replace("X", "x"), [`0x${"1".padStart(64, "0")}`]));
});

test("every single digit of a small sha256 proof counts", () => {
  const state = createState(sha256Suite);
  const result = state.prove(2, PRESENT, []);
  for (const path of listPaths(result)) {
    const value = readAt(result, path);
    const spoiled = structuredClone(result);
    for (let nibble = 0; nibble < countNibbles(value); nibble++) {
      writeAt(spoiled, path, flipNibble(value, nibble, 1 + (nibble % 15)));
      const place = `${path.join(".")} ${nibble}`;
      assert.throws(
        () => verifyProof(sha256Suite, state.stateRoot(2), PRESENT, [], spoiled),
        ProofError,
        place,
      );
    }
  }
});

test("a poseidon2 element with p added to it is refused, though it is the same element", () => {
  const state = createState(poseidon2Suite);
  const result = state.prove(2, PRESENT, []);
  for (const path of listPaths(result).filter(p => p.includes("proofRelatedNodes") || p.includes("value"))) {
    const bytes = decodeHex(readAt(result, path));
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
          /no digest of the suite|more than two bytes|does not hash to hVal/.test(error.rule),
        `${path.join(".")} ${at}`,
      );
      view.setUint32(at, view.getUint32(at) - P);
    }
  }
});

for (const {name, spoil, complaint} of SPOILED_PROOFS) {
  test(`an answer that ${name} is refused`, () => {
    const state = createState(sha256Suite);
    const spoiled = spoil(structuredClone(state.prove(2, PRESENT, KEYS)) as ValidAnswer);
    assert.throws(() => verifyProof(sha256Suite, state.stateRoot(2), PRESENT, KEYS, spoiled), complaint);
  });
}

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

test("a leaf index of minus zero is refused, though the head's leaf is at zero", () => {
  const state = createState(sha256Suite);
  // Head and tail enclose every key of an empty tree, like that of an account without storage.
  const result = state.prove(2, OTHER, ["0x1"]);
  assert.equal(readAt(result, ["storageProofs", "0", "leftLeafIndex"]), 0);
  writeAt(result, ["storageProofs", "0", "leftLeafIndex"], -0);
  assert.throws(
    () => verifyProof(sha256Suite, state.stateRoot(2), OTHER, ["0x1"], result),
    /leftProof: leaf index is not a natural number/,
  );
});
