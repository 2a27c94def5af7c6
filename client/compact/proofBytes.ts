/**
 * Proof bytes (docs/proofs.md, sections 9.1 and 9.2).
 *
 *   0x01 | part of the account tree        for entries: addresses with their slots
 *   0x02 | part of one storage tree        for slots
 *
 *   part:   nextFreeNode u40 | n u16 | key table | n leaf indexes u40 | n records
 *   record: prev u40 | next u40 | bitmap u40 | content | siblings
 *
 * The content of an account (section 9.3):
 *
 *   flags u8: has storage 0x80 | has code 0x40 | length of nonce
 *   nonce | balance number | codeSize number, codeHash 32, keccakCodeHash 32 if it has code | storageRoot 32 or a tree part
 */
import {concatBytes, isEqual, isZero, joinBytes} from "../bytes/byteString.ts";
import {type HashSuite, newTreeRoot, word, ZERO_WORD} from "../hash/hashSuites.ts";
import {NO_CODE_KECCAK, noCodeHash, splitAccount} from "../proof/account.ts";
import {DEPTH, LEAF_POSITIONS} from "../proof/leafProof.ts";
import {check} from "../proof/strictJson.ts";
import {type Asked, slotsOf} from "./askedKeys.ts";
import {type ByteReader, openBytes} from "./byteReader.ts";
import {
  type KeyPlace,
  keysOfLeaves,
  type LeafContent,
  type OwnContent,
  type PartLeaf,
  type TreePart,
} from "./treePart.ts";

const FIRST_BYTE: Readonly<Record<Asked["tree"], number>> = {accounts: 0x01, slots: 0x02};
/** Flag of an entry of the key table: the key is absent. */
const ABSENT = 0x8000;
/** The numbers of leaves are below ABSENT. */
const MAX_LEAVES = ABSENT;
/** Flags of an account. */
const HAS_STORAGE = 0x80;
const HAS_CODE = 0x40;
const LENGTH_BITS = 0x3f;

/** @returns an unverified part. @throws ProofError unless the bytes have the form of a proof of these keys */
export function decodeProofBytes(suite: HashSuite, proof: Uint8Array | string, asked: Asked): TreePart {
  const reader = openBytes(proof);
  const [expected, first] = [FIRST_BYTE[asked.tree], reader.uint(1)];
  check(first === expected, "byte 0", `expected ${expected}, for a proof of ${asked.tree}, got ${first}`);
  const part = readPart(suite, reader, asked);
  reader.end();
  return part;
}

function readPart(suite: HashSuite, reader: ByteReader, asked: Asked): TreePart {
  const at = reader.place();
  const nextFreeNode = reader.uint(5);
  const n = reader.uint(2);
  const most = 2 * asked.hKeys.length;
  check(n >= 1 && n <= most, at, `expected 1 to ${most} leaves, got ${n}`);
  const keys = asked.hKeys.map(() => readPlace(reader, n));
  const leafIndexes = Array.from({length: n}, () => reader.uint(5));
  const named = keysOfLeaves(keys, n);
  // Checks 7 and 10, as far as the key table decides them.
  const around = new Set(keys.flatMap(place => ("leaf" in place ? [] : [place.left, place.right])));
  leafIndexes.forEach((leafIndex, leaf) => {
    const isOwn = named[leaf]?.length !== 0;
    check(!isOwn || leafIndex >= 2, at, "head or tail is named as the leaf of a key");
    check(isOwn || around.has(leaf), at, () => `leaf ${leaf} is not used by any key`);
  });
  /** @param named - numbers of the keys whose own leaf it is */
  const readContent = (leafIndex: number, named: readonly number[]): LeafContent => {
    if (named.length === 0) {
      if (leafIndex < 2) return {role: "end"};
      return {role: "neighbour", hKey: reader.take(32), hVal: reader.take(32)};
    }
    if (asked.tree === "slots") {
      const at = reader.place();
      const value = reader.word();
      check(!isZero(value), at, "a slot is stored as zero");
      return {role: "own", value};
    }
    const hKeys = slotsOf(asked, named);
    const readStorage =
      hKeys.length === 0 ? undefined : () => readPart(suite, reader, {tree: "slots", hKeys});
    return readAccount(suite, reader, readStorage);
  };
  const leaves = leafIndexes.map((leafIndex, k): PartLeaf => {
    const [prev, next, bitmap] = [reader.uint(5), reader.uint(5), reader.uint(5)];
    const content = readContent(leafIndex, named[k] as readonly number[]);
    const siblings: Uint8Array[] = [];
    for (let height = 0, bits = bitmap; height < DEPTH; height++, bits = Math.floor(bits / 2))
      if (bits % 2 === 1) siblings.push(reader.take(32));
    return {leafIndex, prev, next, content, bitmap, siblings};
  });
  return {nextFreeNode, keys, leaves};
}

/** Check 5 of docs/proofs.md, section 10. @param n - leaves of the part */
function readPlace(reader: ByteReader, n: number): KeyPlace {
  const at = reader.place();
  const first = reader.uint(2);
  const right = first < ABSENT ? undefined : reader.uint(2);
  const place = right === undefined ? {leaf: first} : {left: first - ABSENT, right};
  for (const leaf of Object.values(place))
    check(leaf < n, at, () => `expected the number of a leaf, below ${n}, got ${leaf}`);
  return place;
}

/** @throws ProofError if the part has too many leaves, or the tree or an account has no compact form */
export function encodeProofBytes(suite: HashSuite, tree: Asked["tree"], part: TreePart): Uint8Array {
  const out = [Uint8Array.of(FIRST_BYTE[tree])];
  writePart(suite, tree, out, part);
  return joinBytes(out);
}

function writePart(
  suite: HashSuite,
  tree: Asked["tree"],
  out: Uint8Array[],
  {nextFreeNode, keys, leaves}: TreePart,
): void {
  const n = leaves.length;
  check(n <= MAX_LEAVES, "leaves", `expected at most ${MAX_LEAVES} of one tree, got ${n}`);
  check(nextFreeNode < LEAF_POSITIONS, "nextFreeNode", `expected less than 2^40, got ${nextFreeNode}`);
  out.push(u40(nextFreeNode), u16(n));
  for (const place of keys)
    if ("leaf" in place) out.push(u16(place.leaf));
    else out.push(u16(ABSENT + place.left), u16(place.right));
  for (const {leafIndex} of leaves) out.push(u40(leafIndex));
  for (const {prev, next, bitmap, content, siblings} of leaves) {
    out.push(u40(prev), u40(next), u40(bitmap));
    if (content.role === "neighbour") out.push(content.hKey, content.hVal);
    else if (content.role === "own" && tree === "slots") writeNumber(out, content.value);
    else if (content.role === "own")
      writeAccount(suite, out, content, storage => writePart(suite, "slots", out, storage));
    out.push(...siblings);
  }
}

function u16(n: number): Uint8Array {
  return word(n).subarray(30);
}

function u40(n: number): Uint8Array {
  return word(n).subarray(27);
}

/** @param readStorage - reads the storage part; undefined if no slot is asked for */
export function readAccount(
  suite: HashSuite,
  reader: ByteReader,
  readStorage: (() => TreePart) | undefined,
): OwnContent {
  const flags = reader.uint(1);
  const nonce = reader.wordOf(flags & LENGTH_BITS);
  const balance = reader.word();
  let [codeSize, codeHash, keccakCodeHash] = [ZERO_WORD, noCodeHash(suite), NO_CODE_KECCAK];
  if ((flags & HAS_CODE) !== 0) {
    const at = reader.place();
    codeSize = reader.word();
    check(!isZero(codeSize), at, "codeSize is zero");
    [codeHash, keccakCodeHash] = [reader.take(32), reader.take(32)];
  }
  let storageRoot = newTreeRoot(suite);
  let storage: TreePart | undefined;
  if ((flags & HAS_STORAGE) !== 0) {
    if (readStorage !== undefined) storage = readStorage();
    else {
      const at = reader.place();
      const sent = reader.take(32);
      check(!isEqual(sent, storageRoot), at, "the storageRoot of a new tree is sent");
      storageRoot = sent;
    }
  }
  const value = concatBytes(nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize);
  return {role: "own", value, storage};
}

/** @throws ProofError if codeSize is zero and the code hashes are not those of no code */
export function writeAccount(
  suite: HashSuite,
  out: Uint8Array[],
  {value, storage}: OwnContent,
  writeStorage: (storage: TreePart) => void,
): void {
  const [nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize] = splitAccount(value);
  const hasCode = !isZero(codeSize);
  const isNone = isEqual(codeHash, noCodeHash(suite)) && isEqual(keccakCodeHash, NO_CODE_KECCAK);
  check(hasCode || isNone, "account", "codeSize is zero, but the code hashes are not those of no code");
  const hasStorage = storage !== undefined || !isEqual(storageRoot, newTreeRoot(suite));
  const nonceBytes = shortest(nonce);
  const flags = (hasStorage ? HAS_STORAGE : 0) | (hasCode ? HAS_CODE : 0) | nonceBytes.length;
  out.push(Uint8Array.of(flags), nonceBytes);
  writeNumber(out, balance);
  if (hasCode) {
    writeNumber(out, codeSize);
    out.push(codeHash, keccakCodeHash);
  }
  if (storage !== undefined) writeStorage(storage);
  else if (hasStorage) out.push(storageRoot);
}

/** A length byte, and the number that the word holds in so many bytes. */
export function writeNumber(out: Uint8Array[], word: Uint8Array): void {
  const digits = shortest(word);
  out.push(Uint8Array.of(digits.length), digits);
}

function shortest(word: Uint8Array): Uint8Array {
  const first = word.findIndex(byte => byte !== 0);
  return first === -1 ? new Uint8Array() : word.subarray(first);
}
