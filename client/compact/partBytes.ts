/**
 * The bytes of a tree part (docs/proofs.md, section 9.2).
 *
 *   nextFreeNode u40 | n u16 | key table | n leaf indexes u40 | n records
 *   record: prev u40 | next u40 | bitmap u40 | content | siblings
 */
import type {HashSuite} from "../hash/hashSuites.ts";
import {check} from "../proof/strictJson.ts";
import {readAccount, writeAccount} from "./accountBytes.ts";
import {type Asked, slotsOf} from "./askedKeys.ts";
import type {ByteReader} from "./byteReader.ts";
import type {ByteWriter} from "./byteWriter.ts";
import {assignRoles, keysOfLeaves, type LeafRole} from "./keyTable.ts";
import {
  DEPTH,
  type KeyPlace,
  LEAF_POSITIONS,
  type LeafContent,
  type PartLeaf,
  type TreePart,
} from "./treePart.ts";

/** Of a key table's entry: the key is absent. */
const ABSENT = 0x8000;
/** Their numbers are below ABSENT. */
const MAX_LEAVES = ABSENT;

/** @throws ProofError if the bytes are no tree part for the keys asked for. The part is not verified yet */
export function readPart(suite: HashSuite, reader: ByteReader, asked: Asked): TreePart {
  const at = reader.place();
  const nextFreeNode = reader.u40();
  const n = reader.u16();
  check(n >= 1 && n <= 2 * asked.hKeys.length, at, `${n} leaves for ${asked.hKeys.length} keys`);
  const keys = asked.hKeys.map(() => readPlace(reader));
  const leafIndexes = Array.from({length: n}, () => reader.u40());
  const roles = assignRoles(at, keys, leafIndexes);
  const named = keysOfLeaves(keys, n);
  const leaves = leafIndexes.map((leafIndex, k): PartLeaf => {
    const [prev, next, bitmap] = [reader.u40(), reader.u40(), reader.u40()];
    const content = readContent(suite, reader, asked, roles[k] as LeafRole, named[k] as readonly number[]);
    const siblings: Uint8Array[] = [];
    for (let height = 0, bits = bitmap; height < DEPTH; height++, bits = Math.floor(bits / 2))
      if (bits % 2 === 1) siblings.push(reader.take(32));
    return {leafIndex, prev, next, content, bitmap, siblings};
  });
  return {nextFreeNode, keys, leaves};
}

function readPlace(reader: ByteReader): KeyPlace {
  const at = reader.place();
  const first = reader.u16();
  if (first < ABSENT) return {leaf: first};
  const right = reader.u16();
  check(right < ABSENT, at, "the right leaf's number has its highest bit set");
  return {left: first - ABSENT, right};
}

function readContent(
  suite: HashSuite,
  reader: ByteReader,
  asked: Asked,
  role: LeafRole,
  named: readonly number[],
): LeafContent {
  if (role === "end") return {role};
  if (role === "neighbour") return {role, hKey: reader.take(32), hVal: reader.take(32)};
  if (asked.tree === "slots") {
    const at = reader.place();
    const value = reader.number();
    check(value !== 0n, at, "a slot is stored as zero");
    return {role: "slot", value};
  }
  const hKeys = slotsOf(asked, named);
  const readStorage = hKeys.length === 0 ? undefined : () => readPart(suite, reader, {tree: "slots", hKeys});
  return readAccount(suite, reader, readStorage);
}

/** @throws ProofError if the part has too many leaves, or the tree or an account has no compact form */
export function writePart(suite: HashSuite, writer: ByteWriter, part: TreePart): void {
  const {length} = part.leaves;
  check(length <= MAX_LEAVES, "leaves", `${length} of one tree, more than ${MAX_LEAVES}`);
  check(part.nextFreeNode < LEAF_POSITIONS, "nextFreeNode", "is beyond 40 bits");
  writer.u40(part.nextFreeNode);
  writer.u16(part.leaves.length);
  for (const place of part.keys)
    if ("leaf" in place) writer.u16(place.leaf);
    else {
      writer.u16(ABSENT + place.left);
      writer.u16(place.right);
    }
  for (const {leafIndex} of part.leaves) writer.u40(leafIndex);
  for (const {prev, next, bitmap, content, siblings} of part.leaves) {
    for (const n of [prev, next, bitmap]) writer.u40(n);
    if (content.role === "neighbour") {
      writer.raw(content.hKey);
      writer.raw(content.hVal);
    } else if (content.role === "slot") writer.number(content.value);
    else if (content.role === "account")
      writeAccount(suite, writer, content, storage => writePart(suite, writer, storage));
    for (const sibling of siblings) writer.raw(sibling);
  }
}
