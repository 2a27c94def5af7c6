/**
 * The node that is being built, before it is encoded: nothing, a leaf, an extension or a branch. There is one at a time:
 * its caller encodes it, or makes it begin higher up. That lengthens the path of a leaf or an extension, and puts an
 * extension above a branch.
 */
import {keccak256} from "../../hash/wasm/keccak";
import {accountBytes, isAccounts, writeAccount} from "./account";
import {capture, joinsBranches} from "./captured";
import * as Layout from "./layout";
import * as Rlp from "./rlp";

const NOTHING = 0;
const LEAF = 1;
const EXTENSION = 2;
const BRANCH = 3;

/** From the root. */
const PATH: usize = memory.data(32, 16);
const BRANCH_REFERENCE: usize = memory.data(48, 16);

let kind = NOTHING;
/** The node's own part of the path, in nibbles. */
let start = 0;
let end = 0;
/** The value, the child's reference or the first of 16 references. */
let from: usize = 0;
let valueBytes: u32 = 0;
const HASH: usize = memory.data(32, 16);

export function becomeNothing(): void {
  kind = NOTHING;
}

export function becomeLeaf(entry: usize, depth: i32): void {
  kind = LEAF;
  Layout.copyWord(PATH, entry);
  start = depth;
  end = load<i32>(entry, Layout.ENTRY_NIBBLES);
  from = entry + Layout.ENTRY_VALUE;
  valueBytes = load<u32>(entry, Layout.ENTRY_VALUE_BYTES);
}

export function becomeExtension(path: usize, depth: i32, to: i32, reference: usize): void {
  kind = EXTENSION;
  Layout.copyWord(PATH, path);
  start = depth;
  end = to;
  from = reference;
}

/** @param path - of any key below the branch */
export function becomeBranch(path: usize, depth: i32, references: usize): void {
  kind = BRANCH;
  Layout.copyWord(PATH, path);
  start = depth;
  end = depth;
  from = references;
}

export function beginAt(depth: i32): void {
  start = depth;
}

/** Writes the node's reference in its parent. */
export function refer(to: usize): void {
  if (kind === NOTHING) store<u8>(to, 0x80);
  else if (kind === BRANCH && start < end) {
    put(BRANCH_REFERENCE);
    kind = EXTENSION;
    from = BRANCH_REFERENCE;
    put(to);
  } else put(to);
}

/** Sets RESULT to the hash of the node as a root. */
export function referRoot(): void {
  keccak256(Layout.NODE, encodeTop(), Layout.RESULT);
}

/** Encodes it at NODE; what is below its extension is hashed. @returns its length */
export function encodeTop(): u32 {
  if (kind === BRANCH && start < end) {
    put(BRANCH_REFERENCE);
    kind = EXTENSION;
    from = BRANCH_REFERENCE;
  }
  const bytes = encode(Layout.NODE);
  capture(PATH, kind === BRANCH ? end : start, bytes);
  return bytes;
}

function put(to: usize): void {
  const bytes = encode(Layout.NODE);
  if (bytes < 32) Rlp.copyReference(to, Layout.NODE);
  else {
    capture(PATH, kind === BRANCH && !joinsBranches ? end : start, bytes);
    keccak256(Layout.NODE, bytes, HASH);
    Rlp.writeHashReference(to, HASH);
  }
}

/** @returns its length */
function encode(to: usize): u32 {
  let at: usize;
  if (kind === BRANCH) {
    let content: u32 = 1;
    for (let child: usize = 0; child < 16; child++) {
      const reference = from + child * Layout.REFERENCE_BYTES;
      content += Rlp.endOf(reference) - reference;
    }
    at = Rlp.writeHead(to, Rlp.LIST, content);
    for (let child: usize = 0; child < 16; child++)
      at = Rlp.copyReference(at, from + child * Layout.REFERENCE_BYTES);
    store<u8>(at++, 0x80);
  } else if (kind === EXTENSION) {
    at = Rlp.writeHead(to, Rlp.LIST, Rlp.pathBytes(end - start) + (Rlp.endOf(from) - from));
    at = Rlp.writePath(at, PATH, start, end, false);
    at = Rlp.copyReference(at, from);
  } else if (isAccounts) {
    const bytes = accountBytes(from);
    at = writeAccount(writeLeafHead(to, PATH, start, end, bytes, 0xff), from);
  } else {
    at = writeLeafHead(to, PATH, start, end, valueBytes, load<u8>(from));
    memory.copy(at, from, valueBytes);
    at += valueBytes;
  }
  return at - to;
}

/** Writes what comes before a leaf's value. @returns the address after it */
export function writeLeafHead(
  to: usize,
  path: usize,
  depth: i32,
  nibbles: i32,
  bytes: u32,
  first: u32,
): usize {
  const isPlain = bytes === 1 && first < 0x80;
  to = Rlp.writeHead(
    to,
    Rlp.LIST,
    Rlp.pathBytes(nibbles - depth) + (isPlain ? 0 : Rlp.headBytes(bytes)) + bytes,
  );
  to = Rlp.writePath(to, path, depth, nibbles, true);
  return isPlain ? to : Rlp.writeHead(to, Rlp.STRING, bytes);
}
