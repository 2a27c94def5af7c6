/** The value of an account: read from its bytes, and written again. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {concatBytes} from "../../../../client/bytes/byteString.ts";
import {HASH_SUITES, poseidon2Suite, sha256Suite, word} from "../../../../client/hash/hashSuites.ts";
import {decodeAccount, encodeAccount} from "../../../../client/proof/account.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";

/** Words 0 to 5 hold their own numbers, plus one. */
const VALUE = concatBytes(...[1, 2, 3, 4, 5, 6].map(word));
/** Every limb is p or more. */
const NO_DIGEST = new Uint8Array(32).fill(0xff);

/** @param i - of the word that is replaced */
function withWord(i: number, bytes: Uint8Array): Uint8Array {
  const value = Uint8Array.from(VALUE);
  value.set(bytes, 32 * i);
  return value;
}

for (const suite of HASH_SUITES) {
  test(`${suite.name}: each word of an account's value is a field of its own`, () => {
    const account = decodeAccount(suite, VALUE);
    assert.deepEqual(account, {
      nonce: 1n,
      balance: 2n,
      storageRoot: `0x${"03".padStart(64, "0")}`,
      codeHash: `0x${"04".padStart(64, "0")}`,
      keccakCodeHash: `0x${"05".padStart(64, "0")}`,
      codeSize: 6n,
    });
    assert.deepEqual(encodeAccount(account), VALUE);
  });

  test(`${suite.name}: an account's value of another length is refused`, () => {
    for (const length of [0, 32, 191, 193, 224])
      assert.throws(() => decodeAccount(suite, new Uint8Array(length)), {
        code: "PROOF_REFUSED",
        message: `value: expected 192 bytes, got ${length}`,
      });
  });
}

test("storageRoot and codeHash must be digests of the suite, and keccakCodeHash may be anything", () => {
  for (const [i, name] of [
    [2, "storageRoot"],
    [3, "codeHash"],
  ] as const) {
    assert.throws(
      () => decodeAccount(poseidon2Suite, withWord(i, NO_DIGEST), "here"),
      error => error instanceof ProofError && error.message === `here: ${name} is no digest of the suite`,
    );
    assert.doesNotThrow(() => decodeAccount(sha256Suite, withWord(i, NO_DIGEST)));
  }
  assert.doesNotThrow(() => decodeAccount(poseidon2Suite, withWord(4, NO_DIGEST)));
});
