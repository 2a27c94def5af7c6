import assert from "node:assert/strict";
import {test} from "node:test";
import {word} from "../../../../client/hash/hashSuites.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {decodeStoredAccount, encodeStoredAccount, NEW_ACCOUNT} from "../../../../storage/tree/account.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {newTreeRoot} from "../../../../storage/tree/treeRoot.ts";

test("a stored account that ends too soon, or too late, is RECORD_DAMAGED", () => {
  const code = {codeHash: word(1), keccakCodeHash: word(2), codeSize: 0xffffffff};
  const storage = {storageRoot: word(4), tree: newTreeRoot(emptyTree(sha256Suite))};
  const whole = encodeStoredAccount({...NEW_ACCOUNT, code, storage});
  assert.equal(decodeStoredAccount(whole).code?.codeSize, 0xffffffff);
  for (const length of [0, 2, 60, 110, whole.length - 1])
    assert.throws(() => decodeStoredAccount(whole.subarray(0, length)), {code: "RECORD_DAMAGED"});
  assert.throws(() => decodeStoredAccount(Buffer.concat([whole, Buffer.of(0)])), {code: "RECORD_DAMAGED"});
});
