/** The store's Poseidon2, compared with the verifier's, which shares no code with it, and with published hashes. */
import assert from "node:assert/strict";
import {randomBytes, randomInt} from "node:crypto";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {
  encodeLeafOpening,
  poseidon2Suite as verifierSuite,
  word,
} from "../../../../client/hash/hashSuites.ts";
import {P, poseidon2 as verifierPoseidon2} from "../../../../client/hash/poseidon2.ts";
import {BLOCK_BYTES, poseidon2, poseidon2Into} from "../../../../storage/hash/poseidon2.ts";
import {encodeSafe, poseidon2Suite} from "../../../../storage/hash/poseidon2Suite.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {readFixture} from "../../../support/reference/fixtures.ts";
import {isSoak} from "../../../support/soak.ts";

/** Of whole elements below p, which are random, or all at a bound. */
function makeMessage(bytes: number, element: () => number = () => randomInt(P)): Uint8Array {
  const message = new DataView(new ArrayBuffer(bytes));
  for (let at = 0; at < bytes; at += 4) message.setUint32(at, element());
  return new Uint8Array(message.buffer);
}

function assertHash(message: Uint8Array, of: string): void {
  assertSame(poseidon2(message), verifierPoseidon2(message), of);
}

function assertSame(actual: Uint8Array, expected: Uint8Array, of: string): void {
  assert.equal(encodeHex(actual), encodeHex(expected), of);
}

test("a message of every whole number of elements up to 400 bytes has the verifier's hash", () => {
  for (let bytes = 0; bytes <= 400; bytes += 4) assertHash(makeMessage(bytes), `${bytes} bytes`);
});

test("safe() of every length from 0 to 400, and its hash, are the verifier's", () => {
  for (let bytes = 0; bytes <= 400; bytes += isSoak() ? 1 : 7) {
    const code = randomBytes(bytes);
    assertSame(encodeSafe(code), verifierSuite.safe(code), `${bytes} bytes`);
    assertSame(poseidon2Suite.hashCode(code), verifierSuite.hashCode(code), `${bytes} bytes`);
  }
});

test("elements at 0, 1, p - 1 and in between, in any mixture, have the verifier's hash", () => {
  const bounds = [0, 1, 2, 0x00ffffff, 0x01000000, 0x3f800000, 0x3f800001, 0x7effffff, P - 2, P - 1];
  for (const bound of bounds) {
    assertHash(
      makeMessage(96, () => bound),
      `all ${bound}`,
    );
  }
  for (let i = 0; i < 200; i++) {
    const message = makeMessage(64, () => bounds[randomInt(bounds.length)] as number);
    assertHash(message, encodeHex(message));
  }
});

test("messages that are hashed together have the hashes that each has alone, whatever their number and length", () => {
  for (const count of [1, 2, 3, 4, 5, 7, 8, 31, 512, 3000])
    for (const blocks of count > 8 ? [2] : [1, 2, 3, 6, 10]) {
      const bytes = blocks * BLOCK_BYTES;
      const messages = makeMessage(count * bytes);
      const out = new Uint8Array(count * 32 + 32).fill(0xee);
      poseidon2Into(messages, count, bytes, out);
      for (let i = 0; i < count; i++)
        assertSame(
          out.subarray(32 * i, 32 * i + 32),
          poseidon2(messages.subarray(i * bytes, (i + 1) * bytes)),
          `${i} of ${count}, ${blocks} blocks`,
        );
      assert.deepEqual(out.subarray(32 * count), new Uint8Array(32).fill(0xee), "nothing is written behind");
    }
});

test("a message longer than the module's memory has the verifier's hash", () => {
  const code = randomBytes(140_001);
  assertSame(poseidon2Suite.hashCode(code), verifierSuite.hashCode(code), "code");
});

test("slots, their values, leaf openings and root nodes are encoded as the verifier encodes them", () => {
  const [hKey, hVal] = [makeMessage(32), makeMessage(32)];
  for (const slot of [0n, 1n, 0xffffn, 0x10000n, 2n ** 256n - 1n]) {
    const expected = verifierSuite.hash(verifierSuite.safe(word(slot)));
    assertSame(poseidon2Suite.hashSlot(word(slot)), expected, `slot ${slot}`);
    assertSame(poseidon2Suite.hashSlotValue(word(slot)), expected, `value ${slot}`);
  }
  assertSame(poseidon2Suite.tailHKey, verifierSuite.tailKey, "tail key");
  for (const index of [0, 1, 0xffff, 0x10000, 0xffffffff, 2 ** 32, 2 ** 40 - 1]) {
    const opening = new Uint8Array(poseidon2Suite.leafOpeningBytes).fill(0xee);
    poseidon2Suite.encodeLeafOpeningInto(opening, 0, index, 2 ** 40 - 1 - index, hKey, hVal);
    const plain = {prev: index, next: 2 ** 40 - 1 - index, hKey, hVal};
    assertSame(opening, encodeLeafOpening(verifierSuite, plain), `leaf ${index}`);
    assertHash(opening, `leaf ${index}`);
    assertSame(poseidon2Suite.hashNode(opening), verifierPoseidon2(opening), `leaf ${index}`);
    const rootNode = new Uint8Array(poseidon2Suite.rootNodeBytes + 1).fill(0xee);
    poseidon2Suite.encodeRootNodeInto(rootNode, 1, index, hKey);
    assertSame(rootNode.subarray(1), Buffer.concat([verifierSuite.safe(word(index)), hKey]), `root ${index}`);
  }
});

test("the published hashes are the store's, alone and side by side, and the verifier's", () => {
  const {hashes} = readFixture<{hashes: {input: string; output: string}[]}>("published/hashes-poseidon2");
  for (const {input, output} of hashes) {
    assert.equal(encodeHex(poseidon2(decodeHex(input))), output);
    assert.equal(encodeHex(verifierPoseidon2(decodeHex(input))), output);
  }
  const words = hashes.filter(({input}) => input.length === 66);
  const out = new Uint8Array(words.length * 32);
  poseidon2Into(Buffer.concat(words.map(({input}) => decodeHex(input))), words.length, 32, out);
  assert.equal(encodeHex(out), `0x${words.map(({output}) => output.slice(2)).join("")}`);
  assert.ok(words.length > 4);
});

test("the published account keys, and what an empty account, tree and sub-tree of every height hash to, are the store's", () => {
  const {accountKeys} = readFixture<{accountKeys: {address: string; hKey: string}[]}>(
    "published/accountKeys-poseidon2",
  );
  assert.ok(accountKeys.length > 0);
  for (const {address, hKey} of accountKeys)
    assert.equal(encodeHex(poseidon2Suite.hashAddress(decodeHex(address))), hKey);
  const {tailKey, emptyCodeHash, emptySubTrees} =
    readFixture<Record<string, unknown>>("published/trees-poseidon2");
  const {zeros, codeHash, subRoot, topRoot} = emptyTree(poseidon2Suite);
  assert.equal(encodeHex(poseidon2Suite.tailHKey), tailKey);
  assert.equal(encodeHex(codeHash), emptyCodeHash);
  assert.deepEqual(zeros.map(encodeHex), emptySubTrees);
  assert.equal(encodeHex(subRoot), "0x3a00a8e34a16f8a1225fee734816edb326f783bd6678d793345a28f046586ba6");
  assert.equal(encodeHex(topRoot), "0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7");
});
