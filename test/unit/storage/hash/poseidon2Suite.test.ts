/** The store's Poseidon2, compared with the reference in bigints and with the verifier's, which share no code with it. */
import assert from "node:assert/strict";
import {randomBytes, randomInt} from "node:crypto";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
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

/** The hash in bigints, as the paper writes it: it shares no code with the others. */
const PRIME = BigInt(P);
const [WIDTH, FULL_ROUNDS, PARTIAL_ROUNDS] = [16, 6, 21];
const M4 = [
  [2n, 3n, 1n, 1n],
  [1n, 2n, 3n, 1n],
  [1n, 1n, 2n, 3n],
  [3n, 1n, 1n, 2n],
];
/** 1/2, as 2 * (p + 1)/2 = 1. */
const HALF = (PRIME + 1n) / 2n;
const D = [
  ...[-2n, 1n, 2n, HALF, 3n, 4n, -HALF, -3n, -4n, HALF ** 8n, HALF ** 3n, HALF ** 24n],
  ...[-(HALF ** 8n), -(HALF ** 3n), -(HALF ** 4n), -(HALF ** 24n)],
].map(d => d % PRIME);

let s = keccak_256(new TextEncoder().encode("Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]"));
const CONSTANTS = Array.from({length: FULL_ROUNDS + PARTIAL_ROUNDS}, (_, round) =>
  Array.from({length: isFull(round) ? WIDTH : 1}, () => {
    s = keccak_256(s);
    return BigInt(`0x${Buffer.from(s).toString("hex")}`) % PRIME;
  }),
);

function isFull(round: number): boolean {
  return round < FULL_ROUNDS / 2 || round >= FULL_ROUNDS / 2 + PARTIAL_ROUNDS;
}

/** circ(2 M4, M4, M4, M4): a block of M4 on the diagonal counts twice. */
function multiplyExternal(x: readonly bigint[]): bigint[] {
  return x.map((_, row) =>
    x.reduce((sum, value, column) => {
      const isDiagonal = Math.floor(row / 4) === Math.floor(column / 4);
      return sum + (isDiagonal ? 2n : 1n) * (M4[row % 4]?.[column % 4] as bigint) * value;
    }, 0n),
  );
}

function multiplyInternal(x: readonly bigint[]): bigint[] {
  const sum = x.reduce((a, b) => a + b);
  return x.map((value, i) => sum + (D[i] as bigint) * value);
}

function permute(state: readonly bigint[]): bigint[] {
  let x = multiplyExternal(state);
  for (const [round, constants] of CONSTANTS.entries()) {
    x = x.map((value, i) => (constants[i] === undefined ? value : (value + constants[i]) ** 3n));
    x = (isFull(round) ? multiplyExternal(x) : multiplyInternal(x)).map(
      value => ((value % PRIME) + PRIME) % PRIME,
    );
  }
  return x;
}

/** @param message - whole elements of 4 bytes below p @returns 32 bytes */
function plainPoseidon2(message: Uint8Array): Uint8Array {
  let h = new Array<bigint>(8).fill(0n);
  for (let at = 0; at < message.length; at += 32) {
    const block = Buffer.from(message.subarray(at, at + 32))
      .toString("hex")
      .padStart(64, "0");
    const m = (block.match(/.{8}/g) ?? []).map(element => BigInt(`0x${element}`));
    const t = permute([...h, ...m]);
    h = m.map((element, i) => ((t[8 + i] as bigint) + element) % PRIME);
  }
  return Buffer.from(h.map(element => element.toString(16).padStart(8, "0")).join(""), "hex");
}

/** Two bytes to an element of four; if their number is odd, the last block's first element has one of them. */
function plainSafe(bytes: Uint8Array): Uint8Array {
  const left = [...bytes];
  const count = Math.ceil(bytes.length / 2);
  const short = bytes.length % 2 === 1 ? 8 * Math.floor((count - 1) / 8) : -1;
  return Uint8Array.from(
    Array.from({length: count}, (_, i) =>
      i === short ? [0, 0, 0, ...left.splice(0, 1)] : [0, 0, ...left.splice(0, 2)],
    ).flat(),
  );
}

/** Of whole elements below p, which are random, or all at a bound. */
function makeMessage(bytes: number, element: () => number = () => randomInt(P)): Uint8Array {
  const message = new DataView(new ArrayBuffer(bytes));
  for (let at = 0; at < bytes; at += 4) message.setUint32(at, element());
  return new Uint8Array(message.buffer);
}

/** The store's, the reference's and the verifier's hashes of a message are the same. */
function assertHash(message: Uint8Array, of: string): void {
  const expected = plainPoseidon2(message);
  assertSame(poseidon2(message), expected, of);
  assertSame(verifierPoseidon2(message), expected, of);
}

function assertSame(actual: Uint8Array, expected: Uint8Array, of: string): void {
  assert.equal(encodeHex(actual), encodeHex(expected), of);
}

test("a message of every whole number of elements up to 400 bytes has the plain hash", () => {
  for (let bytes = 0; bytes <= 400; bytes += 4) assertHash(makeMessage(bytes), `${bytes} bytes`);
});

test("safe() of every length from 0 to 400, and its hash, are the plain ones", () => {
  for (let bytes = 0; bytes <= 400; bytes += isSoak() ? 1 : 7) {
    const code = randomBytes(bytes);
    const safe = plainSafe(code);
    const expected = plainPoseidon2(bytes === 0 ? new Uint8Array(32) : safe);
    assertSame(encodeSafe(code), safe, `${bytes} bytes`);
    assertSame(verifierSuite.safe(code), safe, `${bytes} bytes`);
    assertSame(poseidon2Suite.hashCode(code), expected, `${bytes} bytes`);
    assertSame(verifierSuite.hashCode(code), expected, `${bytes} bytes`);
  }
});

test("elements at 0, 1, p - 1 and in between, in any mixture, have the plain hash", () => {
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

test("what comes from outside has only elements below 2^16 where it is hashed, even if all its bits are set", () => {
  const [word32, code] = [new Uint8Array(32).fill(0xff), new Uint8Array(33).fill(0xff)];
  const digest = makeMessage(32);
  const value = Buffer.concat([word32, word32, digest, digest, word32, word32]);
  const safe = plainSafe(word32);
  const safeValue = Buffer.concat([safe, safe, digest, digest, safe, safe]);
  assertSame(poseidon2Suite.hashAddress(word32.subarray(12)), plainPoseidon2(safe.subarray(24)), "address");
  assertSame(poseidon2Suite.hashSlot(word32), plainPoseidon2(safe), "slot");
  assertSame(poseidon2Suite.hashSlotValue(word32), plainPoseidon2(safe), "slot value");
  assertSame(poseidon2Suite.hashAccountValue(value), plainPoseidon2(safeValue), "account");
  assertSame(poseidon2Suite.hashCode(code), plainPoseidon2(plainSafe(code)), "code");
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
  assertSame(poseidon2Suite.hashCode(code), verifierSuite.hashCode(code), "code");
});

test("keys, values, leaf openings and root nodes are encoded as the verifier encodes them", () => {
  const [hKey, hVal, value] = [makeMessage(32), makeMessage(32), randomBytes(192)];
  value.set(makeMessage(64), 64);
  const address = randomBytes(20);
  assertSame(poseidon2Suite.hashAddress(address), verifierSuite.hashAddress(address), "address");
  assertSame(poseidon2Suite.hashAccountValue(value), verifierSuite.hashAccountValue(value), "account");
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
    assertSame(poseidon2Suite.hashNode(opening), plainPoseidon2(opening), `leaf ${index}`);
    const rootNode = new Uint8Array(poseidon2Suite.rootNodeBytes + 1).fill(0xee);
    poseidon2Suite.encodeRootNodeInto(rootNode, 1, index, hKey);
    assertSame(rootNode.subarray(1), Buffer.concat([verifierSuite.safe(word(index)), hKey]), `root ${index}`);
  }
});

test("the published hashes are the store's, alone and side by side, and the reference's", () => {
  const {hashes} = readFixture<{hashes: {input: string; output: string}[]}>("published/hashes-poseidon2");
  for (const {input, output} of hashes) {
    assert.equal(encodeHex(poseidon2(decodeHex(input))), output);
    assert.equal(encodeHex(plainPoseidon2(decodeHex(input))), output);
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
