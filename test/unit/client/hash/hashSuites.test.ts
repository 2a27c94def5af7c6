/** The tests' own hash suites: the fixed points of docs/proofs.md, section 7, and the published vectors. */
import assert from "node:assert/strict";
import {randomBytes} from "node:crypto";
import {test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import {concatBytes} from "../../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {
  createSha256Suite,
  encodeLeafOpening,
  newTreeRoot,
  poseidon2Suite,
  readWord,
  safePoseidon2,
  sha256Suite,
  word,
  ZERO_WORD,
} from "../../../../client/hash/hashSuites.ts";
import {poseidon2} from "../../../../client/hash/poseidon2.ts";

const FIXED_POINTS = [
  {
    suite: sha256Suite,
    head: "0xa312b844c71b2172397874a5a1aed6e9d6b8399e9a726a54f78bc2063894d597",
    tail: "0xe80a9d596fe651a4747a1a0a921ca5ad567db7d76d454864c7cc7aaa382bb5bf",
    newTreeRoot: "0x236e8dc4476b99459a9cb68b079c79a80db0c759a9788d57ae6c473d89c42206",
  },
  {
    suite: poseidon2Suite,
    head: "0x2f5de7ad279a134761de0d89702e52743b2f04f41b86cc5400dfae1d4b981340",
    tail: "0x5c73480b5e85fc2c3ab61fc155cf475b74590d005d8916b85fdd5c32773b1255",
    newTreeRoot: "0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7",
  },
];

for (const {suite, head, tail, newTreeRoot: root} of FIXED_POINTS) {
  test(`${suite.name}: head leaf, tail leaf and the root of a new tree are those of docs/proofs.md`, () => {
    const leafHash = (hKey: Uint8Array) =>
      suite.hash(encodeLeafOpening(suite, {prev: 0, next: 1, hKey, hVal: ZERO_WORD}));
    assert.equal(encodeHex(leafHash(ZERO_WORD)), head);
    assert.equal(encodeHex(leafHash(suite.tailKey)), tail);
    assert.equal(encodeHex(newTreeRoot(suite)), root);
  });

  test(`${suite.name}: two parts that are no digests have the hash of their bytes, whatever was hashed before`, () => {
    const node = new Uint8Array(32).fill(1);
    const long = new Uint8Array(40).fill(1);
    for (const [left, right] of [
      [long, node],
      [node, node],
      [node, long],
      [node.subarray(0, 28), node],
      [node, node.subarray(0, 28)],
      [node, node],
    ] as const) {
      assert.deepEqual(suite.hashPair(left, right), suite.hash(left, right));
      assert.deepEqual(suite.hashBranch(concatBytes(left, right)), suite.hash(left, right));
    }
  });

  test(`${suite.name}: a word survives safe and unsafe`, () => {
    for (const n of [0n, 1n, 0x10000n, 2n ** 256n - 1n])
      assert.deepEqual(Buffer.from(suite.unsafe(suite.safe(word(n)))), Buffer.from(word(n)));
  });
}

test("a suite of the caller's SHA-256 hashes as the client's own does, with and without a digest of pairs", () => {
  const [a, b, address] = [randomBytes(32), randomBytes(32), randomBytes(20)];
  for (const suite of [createSha256Suite(asSha256), createSha256Suite({digest: asSha256.digest})]) {
    assert.deepEqual(suite.hashPair(a, b), sha256Suite.hashPair(a, b));
    assert.deepEqual(suite.hash(a, b, address), sha256Suite.hash(a, b, address));
    assert.deepEqual(suite.hashAddress(address), sha256Suite.hashAddress(address));
    assert.equal(encodeHex(newTreeRoot(suite)), FIXED_POINTS[0]?.newTreeRoot);
  }
});

test("a word holds every number below 2^256 and no other", () => {
  const numbers = [
    0n,
    1n,
    255n,
    2n ** 32n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 64n,
    2n ** 255n,
    2n ** 256n - 1n,
  ];
  for (const n of numbers) {
    assert.equal(encodeHex(word(n)), `0x${n.toString(16).padStart(64, "0")}`);
    assert.equal(readWord(word(n)), n);
  }
  assert.deepEqual(word(2 ** 40), word(2n ** 40n));
  for (const n of [-1n, 2n ** 256n, -1, 0.5]) assert.throws(() => word(n), RangeError, `${n}`);
});

test("hex text is read in lower case and whole bytes only", () => {
  assert.deepEqual(decodeHex("0x00ff7f"), Uint8Array.of(0, 255, 127));
  for (const text of ["", "0", "00", "0x0", "0xAB", "0xg0", "0x0\u0130", "0X00", " 0x00", "0x00\n", 1, null])
    assert.throws(() => decodeHex(text), /expected 0x and lower-case hex of whole bytes, got/);
});

test("safe of an odd length puts its single byte into the first limb of the last block", () => {
  assert.equal(encodeHex(safePoseidon2(decodeHex("0x0102"))), "0x00000102");
  assert.equal(encodeHex(safePoseidon2(decodeHex("0x010203"))), "0x0000000100000203");
  const bytes = Uint8Array.from({length: 17}, (_, i) => i + 1);
  const limbs = ["0102", "0304", "0506", "0708", "090a", "0b0c", "0d0e", "0f10", "0011"];
  assert.equal(encodeHex(safePoseidon2(bytes)), `0x${limbs.map(limb => `0000${limb}`).join("")}`);
});

test("poseidon2 refuses an element of p or more and a limb of more than two bytes", () => {
  assert.throws(() => poseidon2(decodeHex("0x7f000001")), /not below p/);
  assert.equal(poseidon2Suite.isDigest(decodeHex(`0x7f000001${"00".repeat(28)}`)), false);
  assert.equal(poseidon2Suite.isDigest(decodeHex(`0x7f000000${"00".repeat(28)}`)), true);
  assert.throws(
    () => poseidon2Suite.unsafe(decodeHex(`0x00010000${"00".repeat(60)}`)),
    /more than two bytes/,
  );
});
