/**
 * The leaves of a range of one tree, verified (docs/proofs.md, section 15).
 *
 *   0x03 | block | [storage tree: length u16, proof bytes of its account] | nextFreeNode u40 | from u40 | count u16 | records | nodes
 */
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex} from "../bytes/hex.ts";
import {ByteReader} from "../compact/byteReader.ts";
import {encodeRootNode, type HashSuite, newTreeRoot} from "../hash/hashSuites.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";
import {check} from "../proof/strictJson.ts";
import {
  type AnsweredBlock,
  checkFields,
  readAccount,
  readBlock,
  readFirstByte,
  requireRoot,
} from "./blockBytes.ts";
import {foldRange, leafAt, takeNodes} from "./foldRange.ts";
import {LeafReader} from "./leafReader.ts";
import type {TreeKind, TreeLeaf} from "./treeLeaf.ts";

export interface LeavesRequest {
  /** "accounts", or the address of an account: `0x` and 40 digits in any case. */
  readonly tree: string;
  /** The leaf index of the first leaf. */
  readonly from: number;
  /** Leaves, at most. */
  readonly count: number;
}

/** Leaves of one tree: every one from `from` to before `end`. */
export interface LeafRange {
  readonly block: AnsweredBlock;
  /** Of a storage tree, its account; undefined if the account is absent, and of the account tree. */
  readonly account: ProvenAccount | undefined;
  /** Every leaf index is below. 2, of a storage tree: the account has no storage, and there are no leaves. */
  readonly nextFreeNode: number;
  /** In the order of leaf indexes, one per position. */
  readonly leaves: readonly TreeLeaf[];
  /** Where the next range begins. nextFreeNode: this one was the last. */
  readonly end: number;
}

const FIRST_BYTE = 0x03;
const ACCOUNTS = "accounts";
/** A storage tree with fewer positions is new, and the account has no storage. */
const MIN_STORAGE_POSITIONS = 3;
/** Of a new tree, which has only head and tail. */
export const NEW_TREE_POSITIONS = 2;
/** hKey and hVal of a leaf. */
const HASHES_BYTES = 64;

/** The block that an answer names, before anything is verified. @throws ProofError */
export function readAnsweredBlock(reader: ByteReader): AnsweredBlock {
  readFirstByte(reader, FIRST_BYTE);
  return readBlock(reader);
}

/**
 * Verifies an answer of chain_getLeaves.
 *
 * @param stateRoot - the trusted root of the block, 32 bytes
 * @param request - your own, not the answer's
 * @throws ProofError
 */
export function verifyLeaves(
  suite: HashSuite,
  stateRoot: Uint8Array,
  request: LeavesRequest,
  bytes: Uint8Array,
): LeafRange {
  const leaves: TreeLeaf[] = [];
  return {...verifyRange(suite, stateRoot, request, bytes, leaf => leaves.push(leaf)), leaves};
}

export type RangeFacts = Omit<LeafRange, "leaves">;

/** The result of another thread that has verified an answer. */
export interface VerifiedHashes {
  readonly range: RangeFacts;
  /** hKey and hVal of each leaf: 64 bytes, zeros of a removed one. */
  readonly hashes: Uint8Array;
}

/** As verifyLeaves, but keeps no leaf. @returns what `readVerifiedLeaves` needs besides the bytes */
export function verifyHashes(
  suite: HashSuite,
  stateRoot: Uint8Array,
  request: LeavesRequest,
  bytes: Uint8Array,
): VerifiedHashes {
  // An answer has at least a byte for a leaf.
  const hashes = new Uint8Array(HASHES_BYTES * Math.min(request.count, bytes.length));
  let end = 0;
  const range = verifyRange(suite, stateRoot, request, bytes, leaf => {
    if (leaf.role !== "removed") {
      hashes.set(leaf.hKey, end);
      hashes.set(leaf.hVal, end + 32);
    }
    end += HASHES_BYTES;
  });
  return {range, hashes: hashes.subarray(0, end)};
}

/** Reads the leaves of an answer that `verifyHashes` has accepted, for the same request. Nothing is hashed. */
export function readVerifiedLeaves(
  suite: HashSuite,
  {tree, from, count}: LeavesRequest,
  bytes: Uint8Array,
  hashes: Uint8Array,
): TreeLeaf[] {
  if (hashes.length === 0) return [];
  const reader = new ByteReader(bytes);
  readAnsweredBlock(reader);
  if (tree !== ACCOUNTS) reader.take(reader.uint(2));
  const head = readHead(reader, NEW_TREE_POSITIONS, from, count);
  const known = {from, bytes: hashes};
  const leafReader = new LeafReader(suite, reader, kindOf(tree), head.nextFreeNode, known);
  return Array.from({length: head.count}, (_, i) => leafReader.read(from + i, head.nextFreeNode));
}

/** @param onLeaf - called with each leaf in order, before the range is verified */
function verifyRange(
  suite: HashSuite,
  stateRoot: Uint8Array,
  request: LeavesRequest,
  bytes: Uint8Array,
  onLeaf: (leaf: TreeLeaf) => void,
): RangeFacts {
  checkFields("request", request, {tree: "string", from: "number", count: "number"});
  const {tree, from, count: askedCount} = request;
  const reader = new ByteReader(bytes);
  const block = readAnsweredBlock(reader);
  requireRoot("block", block, stateRoot);
  const isAccounts = tree === ACCOUNTS;
  const account = isAccounts ? undefined : readAccount(suite, reader, stateRoot, tree);
  const root = isAccounts ? stateRoot : account && decodeHex(account.storageRoot);
  if (root === undefined || (!isAccounts && isEqual(root, newTreeRoot(suite)))) {
    reader.end();
    return {block, account, nextFreeNode: NEW_TREE_POSITIONS, end: NEW_TREE_POSITIONS};
  }
  const minPositions = isAccounts ? NEW_TREE_POSITIONS : MIN_STORAGE_POSITIONS;
  const {nextFreeNode, count} = readHead(reader, minPositions, from, askedCount);
  const leafReader = new LeafReader(suite, reader, kindOf(tree), nextFreeNode);
  const nodes = takeNodes(count);
  for (let i = 0; i < count; i++) {
    onLeaf(leafReader.read(from + i, nextFreeNode));
    nodes.set(leafReader.hash, leafAt(i));
  }
  const subRoot = foldRange(suite, reader, nextFreeNode, from, count, nodes);
  reader.end();
  const folded = suite.hash(encodeRootNode(suite, nextFreeNode, subRoot));
  const trusted = isAccounts ? "the trusted root" : "the account's storageRoot";
  check(isEqual(folded, root), isAccounts ? "accountTree" : "storageTree", `does not fold to ${trusted}`);
  return {block, account, nextFreeNode, end: from + count};
}

function readHead(
  reader: ByteReader,
  minPositions: number,
  askedFrom: number,
  askedCount: number,
): {readonly nextFreeNode: number; readonly count: number} {
  const [nextFreeNode, from, count] = [reader.uint(5), reader.uint(5), reader.uint(2)];
  check(nextFreeNode >= minPositions, "nextFreeNode", `is below ${minPositions}`);
  check(from === askedFrom, "from", () => `expected ${askedFrom}, got ${from}`);
  check(count >= 1 && count <= askedCount, "count", () => `expected 1 to ${askedCount}, got ${count}`);
  check(from + count <= nextFreeNode, "count", "the range goes beyond nextFreeNode");
  return {nextFreeNode, count};
}

function kindOf(tree: string): TreeKind {
  return tree === ACCOUNTS ? "accounts" : "slots";
}

/** Verified leaves, with the answer's bytes (docs/proofs.md, section 15). */
export interface VerifiedLeaves extends LeafRange {
  readonly proof: Uint8Array;
}

export interface LeavesVerifier {
  /**
   * @param rootOf - finds the trusted root of the answer's block, 32 bytes
   * @param bytes - in an ArrayBuffer of their own, which may be transferred to another thread: use those of the result
   * @throws ProofError; what rootOf throws
   */
  verify(
    suite: HashSuite,
    rootOf: () => Promise<Uint8Array>,
    request: LeavesRequest,
    bytes: Uint8Array,
  ): Promise<VerifiedLeaves>;
}

export const thisThread: LeavesVerifier = {
  async verify(suite, rootOf, request, bytes) {
    return {...verifyLeaves(suite, await rootOf(), request, bytes), proof: bytes};
  },
};
