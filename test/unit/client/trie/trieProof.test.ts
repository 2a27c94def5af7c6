/** Nodes that hash to their root and yet are no trie, or stand where none belongs: the verifier refuses them. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {type Input, RLP} from "@ethereumjs/rlp";
import {keccak_256} from "@noble/hashes/sha3.js";
import {concatBytes} from "../../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../client/hash/hashSuites.ts";
import {verifyEthProof} from "../../../../client/trie/ethProof.ts";
import {verifyTrieKey} from "../../../../client/trie/trieProof.ts";
import {complaintOf} from "../../../support/reference/forgeries.ts";

/** 64 digits, all of them 1. */
const PATH = new Uint8Array(32).fill(0x11);
const VALUE = RLP.encode(new Uint8Array(40));
const TWELVE = new Uint8Array(12).fill(3);
const EMPTY = new Uint8Array();

/** The digits of a way as a leaf or an extension has them. */
function way(digits: string, isLeaf: boolean): Uint8Array {
  const flag = (isLeaf ? 2 : 0) + (digits.length % 2);
  return decodeHex(`0x${flag}${digits.length % 2 === 0 ? "0" : ""}${digits}`);
}

function leaf(digits: number, value: Input = VALUE, digit = "1"): Input[] {
  return [way(digit.repeat(digits), true), value];
}

function extension(digits: string, child: Input): Input[] {
  return [way(digits, false), child];
}

/** @param child - below the digit 1 */
function branch(child: Input, value: Input = EMPTY): Input[] {
  return [EMPTY, child, ...Array.from({length: 14}, () => EMPTY), value];
}

function hashOf(node: Input): Uint8Array {
  return keccak_256(RLP.encode(node));
}

/** A proof of PATH whose first node is the trusted root's. */
function verify(nodes: readonly Input[]): Uint8Array | undefined {
  return verifyBytes(nodes.map(node => RLP.encode(node)));
}

function verifyBytes(nodes: readonly Uint8Array[]): Uint8Array | undefined {
  return verifyTrieKey(keccak_256(nodes[0] as Uint8Array), PATH, "proof", nodes.map(encodeHex));
}

test("a way of branches and extensions leads to the value, or to where it is absent", () => {
  const [short, inner] = [leaf(10, Uint8Array.of(7)), leaf(10, TWELVE)];
  const above = (child: Input) => extension("1".repeat(53), child);
  const rows: readonly (readonly [readonly Input[], Uint8Array | undefined])[] = [
    [[leaf(64)], VALUE],
    [[branch(hashOf(leaf(63))), leaf(63)], VALUE],
    [[extension("111", hashOf(branch(hashOf(leaf(60))))), branch(hashOf(leaf(60))), leaf(60)], VALUE],
    [[above(branch(short))], Uint8Array.of(7)],
    [[above(branch(short)), branch(short), short], Uint8Array.of(7)],
    [[above(hashOf(branch(inner))), branch(inner)], TWELVE],
    [[above(hashOf(branch(inner))), branch(inner), inner], TWELVE],
    [[branch(EMPTY)], undefined],
    [[leaf(64, VALUE, "2")], undefined],
    [[extension("12", hashOf(branch(EMPTY)))], undefined],
    // As eth_getMultiProof has it: with the branch below the extension, and where that lies in its parent.
    [[extension("12", hashOf(branch(inner))), branch(inner)], undefined],
    [[extension("12", branch(short)), branch(short)], undefined],
    [[branch(hashOf(leaf(63, VALUE, "2"))), leaf(63, VALUE, "2")], undefined],
  ];
  for (const [nodes, value] of rows) assert.deepEqual(verify(nodes), value);
});

test("nodes that are no trie are refused, though each hashes to what is above it", () => {
  const short = leaf(9, Uint8Array.of(7));
  const deep = (child: Input) => extension("1".repeat(54), child);
  const rows: readonly (readonly [readonly Input[], RegExp])[] = [
    [[leaf(63)], /^proof\[0\]: the path of a leaf does not end at 64 nibbles/],
    [[leaf(65)], /the path of a leaf does not end/],
    [[branch(hashOf(leaf(64))), leaf(64)], /^proof\[1\]: the path of a leaf does not end/],
    [[leaf(64, EMPTY)], /a leaf has no value/],
    [[leaf(64, [VALUE])], /a leaf has no value/],
    [[branch(EMPTY, VALUE)], /a branch has a value/],
    [[branch(hashOf(leaf(63)), [VALUE]), leaf(63)], /a branch has a value/],
    [[extension("1".repeat(64), VALUE)], /the path of an extension is empty, or reaches 64 nibbles/],
    [[extension("", hashOf(leaf(64))), leaf(64)], /the path of an extension is empty/],
    [[branch(Uint8Array.of(1))], /^proof\[0\]: expected a hash, got 1 byte$/],
    [[branch(new Uint8Array(33))], /expected a hash, got 33 bytes/],
    [[extension("1", EMPTY)], /expected a hash, got 0 bytes/],
    [[branch(leaf(63))], /^proof\[0\]: an inlined node has 32 bytes or more/],
    [[deep(hashOf(short)), short], /^proof\[1\]: a node under 32 bytes must be inlined in its parent/],
    [
      [deep(branch(leaf(9, Uint8Array.of(7), "2"))), leaf(9, Uint8Array.of(7))],
      /^proof\[1\]: trailing proof nodes/,
    ],
    [[extension("12", hashOf(branch(PATH))), branch(VALUE)], /^proof\[1\]: is not the child/],
    [
      [extension("12", hashOf(branch(PATH))), branch(PATH), branch(PATH)],
      /^proof\[2\]: trailing proof nodes/,
    ],
    [[deep(branch(short)), short, short], /^proof\[2\]: trailing proof nodes/],
    [[[VALUE, VALUE]], /its path is not hex-prefix encoded/],
    [[[EMPTY, VALUE]], /its path is not hex-prefix encoded/],
    [[[Uint8Array.of(0x21), VALUE, VALUE]], /expected a node of 2 or 17 items, got 3/],
    [[[concatBytes(Uint8Array.of(0x2f), PATH), VALUE]], /its path is not hex-prefix encoded/],
    [[[concatBytes(Uint8Array.of(0x60), PATH), VALUE]], /its path is not hex-prefix encoded/],
    [[[[PATH], VALUE]], /its path is not hex-prefix encoded/],
    [[VALUE], /^proof\[0\]: expected an RLP list/],
    [[branch(hashOf(leaf(63)))], /^proof: expected more than 1 node$/],
    [Array.from({length: 66}, () => leaf(64)), /^proof: expected 0 to 65 nodes, got 66/],
    [[leaf(64, new Uint8Array(600))], /^proof\[0\]: expected at most 532 bytes/],
  ];
  for (const [nodes, rule] of rows)
    assert.match(
      complaintOf(() => verify(nodes)),
      rule,
    );
  // A branch for each of the 64 digits, and one more.
  let nodes: Input[] = [branch(hashOf(leaf(1)))];
  for (let i = 0; i < 64; i++) nodes = [branch(hashOf(nodes[0] as Input)), ...nodes];
  assert.match(
    complaintOf(() => verify(nodes)),
    /^proof\[64\]: a branch lies below 64 nibbles/,
  );
});

test("RLP in another than its shortest form is refused", () => {
  const node = RLP.encode(leaf(64));
  const rows: readonly (readonly [readonly number[], RegExp])[] = [
    [[...node, 0], /trailing bytes after the RLP item/],
    [[...node.subarray(0, -1)], /RLP ends too early/],
    [[], /RLP ends too early/],
    [[0xf9], /RLP ends too early/],
    [[0xf9, 0, node.length - 2, ...node.subarray(2)], /RLP is not in its shortest form/],
    [[0xf8, 2, 1, 1], /RLP is not in its shortest/],
    [[0xc2, 0x81, 1], /RLP is not in its shortest/],
    [[0xbf, ...new Array(8).fill(0xff)], /RLP ends too early/],
  ];
  for (const [bytes, rule] of rows)
    assert.match(
      complaintOf(() => verifyBytes([Uint8Array.from(bytes)])),
      rule,
    );
});

test("values that no state has are refused, though their nodes are a trie", () => {
  const address = `0x${"11".repeat(20)}`;
  const hash = new Uint8Array(32).fill(5);
  const leafOf = (key: Uint8Array, value: Uint8Array) =>
    RLP.encode([concatBytes(Uint8Array.of(0x20), keccak_256(key)), value]);
  const verifyAccount = (value: Input, slotValue: Input = 7) => {
    const storage = leafOf(word(1), RLP.encode(slotValue));
    const fields = (Array.isArray(value) ? value : []).map(field =>
      field === "storage" ? keccak_256(storage) : field,
    );
    const node = leafOf(decodeHex(address), RLP.encode(Array.isArray(value) ? fields : value));
    verifyEthProof(keccak_256(node), address, ["0x1"], {
      ...{address, accountProof: [encodeHex(node)], nonce: "0x1", balance: "0x2"},
      ...{storageHash: encodeHex(keccak_256(storage)), codeHash: encodeHex(hash)},
      storageProof: [{key: "0x1", value: "0x7", proof: [encodeHex(storage)]}],
    });
  };
  verifyAccount([1, 2, "storage", hash]);
  const rows: readonly (readonly [Input, RegExp])[] = [
    [[1, 2, "storage", hash, 0], /expected 4 fields, got 5/],
    [hash, /the account's value: expected an RLP list/],
    [[new Uint8Array(9).fill(1), 2, "storage", hash], /expected a number of at most 8 bytes/],
    [[1, new Uint8Array(33).fill(1), "storage", hash], /expected a number of at most 32 bytes/],
    [[Uint8Array.of(0, 1), 2, "storage", hash], /a number begins with a zero byte/],
    [[[1], 2, "storage", hash], /expected a number/],
    [[1, 2, "storage", hash.subarray(1)], /expected a hash, got 31 bytes/],
  ];
  for (const [value, rule] of rows)
    assert.match(
      complaintOf(() => verifyAccount(value)),
      rule,
    );
  const slots: readonly (readonly [Input, RegExp])[] = [
    [0, /^storageProof\[0\]\.proof: a slot is stored as zero/],
    [Uint8Array.of(0, 7), /a number begins with a zero byte/],
    [new Uint8Array(33).fill(1), /expected a number of at most 32 bytes/],
    [[7], /expected a number/],
    [8, /^storageProof\[0\]\.value: expected 0x8, got "0x7"/],
  ];
  for (const [value, rule] of slots)
    assert.match(
      complaintOf(() => verifyAccount([1, 2, "storage", hash], value)),
      rule,
    );
});
