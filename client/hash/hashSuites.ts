/**
 * The two hash suites of docs/proofs.md, section 1: sha256 with the SHA-256 of the runtime, of @noble/hashes or of the
 * caller, and poseidon2. The prover does not use this code.
 *
 *                         sha256                          poseidon2
 *   root node        64 = nextFreeNode 32 | sub-root 32   96 = nextFreeNode 64 | sub-root 32
 *   leaf opening    128 = prev 32 | next 32 | hKey | hVal 192 = prev 64 | next 64 | hKey | hVal
 */
import {compareBytes, concatBytes} from "../bytes/byteString.ts";
import {PairMemo} from "./pairMemo.ts";
import {P, poseidon2} from "./poseidon2.ts";
import {chooseSha256} from "./runtimeSha256.ts";

export interface HashSuite {
  readonly name: "sha256" | "poseidon2";
  readonly rootNodeBytes: number;
  readonly leafOpeningBytes: number;
  /** Number of bytes that safe() makes from a 32-byte word. */
  readonly safeWordBytes: number;
  /** hKey of the tail leaf, 32 bytes. Every result of a suite is a new array, which callers may write into. */
  readonly tailKey: Uint8Array;
  hash(...parts: readonly Uint8Array[]): Uint8Array;
  /** hash of two digests: a branch. Cached, because the proofs of a block share branches. */
  hashPair(left: Uint8Array, right: Uint8Array): Uint8Array;
  /** The same for both digests in one array of 64 bytes. */
  hashBranch(pair: Uint8Array): Uint8Array;
  safe(bytes: Uint8Array): Uint8Array;
  /** The reverse of safe() for a word. @throws Error if safe() cannot have written `bytes` */
  unsafe(bytes: Uint8Array): Uint8Array;
  /** Could these 32 bytes be an output of hash? */
  isDigest(bytes: Uint8Array): boolean;
  /** Could each 32 bytes from `start` to the end be an output of hash? */
  areDigests(bytes: Uint8Array, start: number): boolean;
  /** hKey of an account. @param address - 20 bytes */
  hashAddress(address: Uint8Array): Uint8Array;
  /** hVal of an account. @param value - 192 bytes */
  hashAccountValue(value: Uint8Array): Uint8Array;
  /** Word 3 of an account value. @param code - may be empty */
  hashCode(code: Uint8Array): Uint8Array;
}

/** The part of a suite that makes hKeys. */
export type KeyHashes = Pick<HashSuite, "hash" | "safe" | "hashAddress">;

/** The links, and the hashes of 32 bytes each, that a leaf commits to. */
export interface LeafOpening {
  readonly prev: number;
  readonly next: number;
  readonly hKey: Uint8Array;
  readonly hVal: Uint8Array;
}

export interface Leaf extends LeafOpening {
  readonly leafIndex: number;
}

export const ZERO_WORD: Uint8Array = new Uint8Array(32);

/**
 * A SHA-256 of the caller, such as the module @chainsafe/as-sha256.
 *
 * digest2Bytes32 is the digest of two times 32 bytes. Without it, `digest` is used.
 */
export interface Sha256 {
  digest(bytes: Uint8Array): Uint8Array;
  digest2Bytes32?(left: Uint8Array, right: Uint8Array): Uint8Array;
}

/** @returns 32 bytes, big-endian */
export function word(n: bigint | number): Uint8Array {
  const bytes = new Uint8Array(32);
  if (n >= 0 && n <= Number.MAX_SAFE_INTEGER && Number.isInteger(Number(n))) {
    for (let rest = Number(n), at = 31; rest > 0; rest = Math.floor(rest / 256)) bytes[at--] = rest % 256;
    return bytes;
  }
  const view = new DataView(bytes.buffer);
  let rest = BigInt(n);
  if (rest < 0n || rest >> 256n !== 0n) throw new RangeError(`${n} does not fit a word`);
  for (let at = 24; at >= 0; at -= 8) {
    view.setBigUint64(at, rest);
    rest >>= 64n;
  }
  return bytes;
}

/** The number that a word holds. @param bytes - 32 bytes */
export function readWord(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const low = (view.getBigUint64(16) << 64n) | view.getBigUint64(24);
  // Most balances and many values fit into the lower half.
  const isShort = (view.getUint32(0) | view.getUint32(4) | view.getUint32(8) | view.getUint32(12)) === 0;
  return isShort ? low : (view.getBigUint64(0) << 192n) | (view.getBigUint64(8) << 128n) | low;
}

/** hKey of a slot, or hVal of its value. */
export function hashWord(suite: KeyHashes, n: bigint): Uint8Array {
  return suite.hash(suite.safe(word(n)));
}

export function encodeLeafOpening(suite: HashSuite, leaf: LeafOpening): Uint8Array {
  return concatBytes(suite.safe(word(leaf.prev)), suite.safe(word(leaf.next)), leaf.hKey, leaf.hVal);
}

export function encodeRootNode(suite: HashSuite, nextFreeNode: number, subRoot: Uint8Array): Uint8Array {
  return concatBytes(suite.safe(word(nextFreeNode)), subRoot);
}

/** @returns `make`, which runs once for each suite */
export function oncePerSuite<Made>(make: (suite: HashSuite) => Made): (suite: HashSuite) => Made {
  const made = new WeakMap<HashSuite, Made>();
  return suite => {
    if (!made.has(suite)) made.set(suite, make(suite));
    return made.get(suite) as Made;
  };
}

/** The empty sub-trees by height, 0 to 40. */
export const zeroSubTrees = oncePerSuite((suite): readonly Uint8Array[] => {
  const zero = [ZERO_WORD];
  for (let height = 0; height < 40; height++)
    zero.push(suite.hashPair(zero[height] as Uint8Array, zero[height] as Uint8Array));
  return zero;
});

const rootOfNewTree = oncePerSuite(suite => {
  const zero = zeroSubTrees(suite);
  const head = encodeLeafOpening(suite, {prev: 0, next: 1, hKey: ZERO_WORD, hVal: ZERO_WORD});
  const tail = encodeLeafOpening(suite, {prev: 0, next: 1, hKey: suite.tailKey, hVal: ZERO_WORD});
  let node = suite.hash(suite.hash(head), suite.hash(tail));
  for (let height = 1; height < 40; height++) node = suite.hash(node, zero[height] as Uint8Array);
  return suite.hash(encodeRootNode(suite, 2, node));
});

/**
 * Top root of a new tree, which has only head and tail: an array of the caller's own.
 *
 *   H( word(2) | H( ... H( H( H(head) H(tail) ) z1 ) z2 ... z39 ) )
 */
export function newTreeRoot(suite: HashSuite): Uint8Array {
  return rootOfNewTree(suite).slice();
}

/** @param sha256 - what hashes, faster perhaps than the one of {@link sha256Suite} */
export function createSha256Suite(sha256: Sha256): HashSuite {
  const digest = (bytes: Uint8Array) => plainBytes(sha256.digest(bytes));
  const hash = (...parts: readonly Uint8Array[]) =>
    digest(parts.length === 1 ? (parts[0] as Uint8Array) : concatBytes(...parts));
  const pairs = new PairMemo((left, right) =>
    sha256.digest2Bytes32 === undefined ? hash(left, right) : plainBytes(sha256.digest2Bytes32(left, right)),
  );
  return {
    name: "sha256",
    rootNodeBytes: 64,
    leafOpeningBytes: 128,
    safeWordBytes: 32,
    get tailKey() {
      return new Uint8Array(32).fill(0xff);
    },
    hash,
    hashPair: (left, right) => pairs.hash(left, right),
    hashBranch: pair => pairs.hashJoined(pair),
    safe: bytes => bytes,
    unsafe: bytes => bytes,
    isDigest: bytes => bytes.length === 32,
    areDigests: (bytes, start) => (bytes.length - start) % 32 === 0,
    hashAddress: address => hash(new Uint8Array(12), address),
    hashAccountValue: digest,
    hashCode: digest,
  };
}

/** Node's Buffer, which as-sha256 returns, as a Uint8Array. Where code meets both, V8 runs all of it more slowly. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes);
}

/** SHA-256 of the runtime, or of @noble/hashes where it has none. */
export const sha256Suite: HashSuite = createSha256Suite({digest: chooseSha256()});

function hashPoseidon2(...parts: readonly Uint8Array[]): Uint8Array {
  return poseidon2(concatBytes(...parts));
}

/**
 * Writes two bytes per 4-byte limb. If the length L is odd (code only), the first limb of the last block gets one byte:
 *
 *   0x0000XXXX ... 0x0000XXXX | 0x000000XX 0x0000XXXX ...     limb 8 * floor((L - 1) / 8)
 */
export function safePoseidon2(bytes: Uint8Array): Uint8Array {
  const limbs = Math.ceil(bytes.length / 2);
  const shortLimb = bytes.length % 2 === 1 ? 8 * Math.floor((limbs - 1) / 8) : -1;
  const out = new Uint8Array(4 * limbs);
  let read = 0;
  for (let limb = 0; limb < limbs; limb++) {
    if (limb !== shortLimb) out[4 * limb + 2] = bytes[read++] as number;
    out[4 * limb + 3] = bytes[read++] as number;
  }
  return out;
}

function unsafePoseidon2(bytes: Uint8Array): Uint8Array {
  const out = bytes.filter((_, i) => i % 4 >= 2);
  if (compareBytes(safePoseidon2(out), bytes) !== 0)
    throw new Error("a limb of a safe word has more than two bytes");
  return out;
}

function arePoseidon2Digests(bytes: Uint8Array, start: number): boolean {
  if ((bytes.length - start) % 32 !== 0) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = start; i < bytes.length; i += 4) if (view.getUint32(i) >= P) return false;
  return true;
}

const poseidon2Pairs = new PairMemo(hashPoseidon2);

export const poseidon2Suite: HashSuite = {
  name: "poseidon2",
  rootNodeBytes: 96,
  leafOpeningBytes: 192,
  safeWordBytes: 64,
  get tailKey() {
    return Uint8Array.from({length: 32}, (_, i) => (i % 4 === 0 ? 0x7f : 0));
  },
  hash: hashPoseidon2,
  hashPair: (left, right) => poseidon2Pairs.hash(left, right),
  hashBranch: pair => poseidon2Pairs.hashJoined(pair),
  safe: safePoseidon2,
  unsafe: unsafePoseidon2,
  isDigest: bytes => bytes.length === 32 && arePoseidon2Digests(bytes, 0),
  areDigests: arePoseidon2Digests,
  hashAddress: address => hashPoseidon2(safePoseidon2(address)),
  hashAccountValue: value => {
    const words = Array.from({length: 6}, (_, i) => value.subarray(32 * i, 32 * i + 32));
    // Words 2 and 3 (storageRoot, codeHash) are digests: safe() is never applied to them.
    return hashPoseidon2(...words.map((part, i) => (i === 2 || i === 3 ? part : safePoseidon2(part))));
  },
  // Section 1: only this suite has a special hash for "no code". sha256 hashes zero bytes.
  hashCode: code => hashPoseidon2(code.length === 0 ? ZERO_WORD : safePoseidon2(code)),
};

export const HASH_SUITES: readonly HashSuite[] = [sha256Suite, poseidon2Suite];
