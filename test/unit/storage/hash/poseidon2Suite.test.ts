/** The store's Poseidon2, compared with the verifier's plain one, which shares no code with it. */
import assert from "node:assert/strict";
import {randomBytes, randomInt} from "node:crypto";
import {test} from "node:test";
import {BLOCK_BYTES, poseidon2, poseidon2Into} from "../../../../storage/hash/poseidon2.ts";
import {encodeSafe, poseidon2Suite} from "../../../../storage/hash/poseidon2Suite.ts";
import {
  encodeLeafOpening,
  poseidon2Suite as plainSuite,
  safePoseidon2,
  word,
} from "../../../../verify/hashSuites.ts";
import {encodeHex} from "../../../../verify/hex.ts";
import {P, poseidon2 as plainPoseidon2} from "../../../../verify/poseidon2.ts";

/** Of whole elements below p, which are random, or all at a bound. */
function makeMessage(bytes: number, element: () => number = () => randomInt(P)): Uint8Array {
  const message = new DataView(new ArrayBuffer(bytes));
  for (let at = 0; at < bytes; at += 4) message.setUint32(at, element());
  return new Uint8Array(message.buffer);
}

function assertSame(actual: Uint8Array, expected: Uint8Array, of: string): void {
  assert.equal(encodeHex(actual), encodeHex(expected), of);
}

test("a message of every whole number of elements up to 400 bytes has the plain hash", () => {
  for (let bytes = 0; bytes <= 400; bytes += 4) {
    const message = makeMessage(bytes);
    assertSame(poseidon2(message), plainPoseidon2(message), `${bytes} bytes`);
  }
});

test("safe() of every length from 0 to 400, and its hash, are the plain ones", () => {
  for (let bytes = 0; bytes <= 400; bytes++) {
    const message = randomBytes(bytes);
    assertSame(encodeSafe(message), safePoseidon2(message), `${bytes} bytes`);
    assertSame(poseidon2Suite.hashCode(message), plainSuite.hashCode(message), `${bytes} bytes`);
  }
});

test("elements at 0, 1, p - 1 and in between, in any mixture, have the plain hash", () => {
  const bounds = [0, 1, 2, 0x00ffffff, 0x01000000, 0x3f800000, 0x3f800001, 0x7effffff, P - 2, P - 1];
  for (const bound of bounds) {
    const message = makeMessage(96, () => bound);
    assertSame(poseidon2(message), plainPoseidon2(message), `all ${bound}`);
  }
  for (let i = 0; i < 200; i++) {
    const message = makeMessage(64, () => bounds[randomInt(bounds.length)] as number);
    assertSame(poseidon2(message), plainPoseidon2(message), encodeHex(message));
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

test("a message longer than the module's memory has the plain hash", () => {
  const code = randomBytes(140_001);
  assertSame(poseidon2Suite.hashCode(code), plainSuite.hashCode(code), "code");
});

test("keys, values, leaf openings and root nodes are encoded as the verifier encodes them", () => {
  const [hKey, hVal, value] = [makeMessage(32), makeMessage(32), randomBytes(192)];
  value.set(makeMessage(64), 64);
  const address = randomBytes(20);
  assertSame(poseidon2Suite.hashAddress(address), plainSuite.hashAddress(address), "address");
  assertSame(poseidon2Suite.hashAccountValue(value), plainSuite.hashAccountValue(value), "account");
  for (const slot of [0n, 1n, 0xffffn, 0x10000n, 2n ** 256n - 1n]) {
    const expected = plainSuite.hash(plainSuite.safe(word(slot)));
    assertSame(poseidon2Suite.hashSlot(word(slot)), expected, `slot ${slot}`);
    assertSame(poseidon2Suite.hashSlotValue(word(slot)), expected, `value ${slot}`);
  }
  assertSame(poseidon2Suite.tailHKey, plainSuite.tailKey, "tail key");
  for (const index of [0, 1, 0xffff, 0x10000, 0xffffffff, 2 ** 32, 2 ** 40 - 1]) {
    const opening = new Uint8Array(poseidon2Suite.leafOpeningBytes).fill(0xee);
    poseidon2Suite.encodeLeafOpeningInto(opening, 0, index, 2 ** 40 - 1 - index, hKey, hVal);
    const plain = {prev: index, next: 2 ** 40 - 1 - index, hKey, hVal};
    assertSame(opening, encodeLeafOpening(plainSuite, plain), `leaf ${index}`);
    assertSame(poseidon2Suite.hashNode(opening), plainPoseidon2(opening), `leaf ${index}`);
    const rootNode = new Uint8Array(poseidon2Suite.rootNodeBytes + 1).fill(0xee);
    poseidon2Suite.encodeRootNodeInto(rootNode, 1, index, hKey);
    assertSame(rootNode.subarray(1), Buffer.concat([plainSuite.safe(word(index)), hKey]), `root ${index}`);
  }
});
