/**
 * The nodes that were read or made lately, by hash, in two halves of the memory. New ones go to the younger half. When it is full, the
 * older half is forgotten, and becomes the younger one. A node of the older half that is read again moves to the younger.
 *
 *   node     hash 32 | next of its bucket u32 | state u32 | next pending u32 | bytes u32 | RLP
 *   bucket   its last node u32                  chosen by the hash and a random number: who makes nodes cannot fill one of them
 *
 *   stored    the store has it
 *   pending   it was made, and is stored by `persist` or dropped
 *   dropped   it was made for nothing. It may be made again, and is pending then
 */
import {keccak256} from "../../../storage/hash/wasm/keccak";
import * as host from "./host";
import {BUCKET_BITS, BUCKETS, copyWord, growTo, HALF_BYTES, MAX_NODE_BYTES, NODES} from "./layout";
import {isNode} from "./rlp";

const NEXT: usize = 32;
const STATE: usize = 36;
const NEXT_PENDING: usize = 40;
const BYTES: usize = 44;
const RLP: usize = 48;

const STORED: u32 = 0;
const PENDING: u32 = 1;
const DROPPED: u32 = 2;

/** The hash of the node that was asked for last. */
const LAST: usize = memory.data(32, 16);

let young: usize = 0;
let top: usize = NODES;
let factor: u64 = 1;
let lastPending: usize = 0;
let hasYoungPending: bool = false;
let hasOldPending: bool = false;

/** @param random - of 64 bits; how nodes are spread over buckets */
export function seed(random: u64): void {
  factor = random | 1;
}

/** @returns the RLP of a node, until the next call of `resolve` or `space` */
export function resolve(hash: usize): usize {
  copyWord(LAST, hash);
  const to = space();
  const known = lookUp(LAST, young);
  if (known !== 0 && load<u32>(known, STATE) !== DROPPED) return known + RLP;
  const old = lookUp(LAST, 1 - young);
  if (old !== 0 && load<u32>(old, STATE) === PENDING) return old + RLP;
  let bytes: u32;
  if (old !== 0 && load<u32>(old, STATE) === STORED) {
    bytes = load<u32>(old, BYTES);
    memory.copy(to, old + RLP, bytes);
  } else {
    bytes = host.load(LAST, to);
    if (!isNode(to, bytes)) host.refuse(LAST);
  }
  copyWord(top, LAST);
  add(bytes, STORED);
  return to;
}

/** Ends the call with an error that names the last node: what it says cannot be. */
export function refuseLast(): void {
  host.refuse(LAST);
}

/** @returns where the next node may be written, MAX_NODE_BYTES */
export function space(): usize {
  if (top + RLP + MAX_NODE_BYTES > NODES + (young + 1) * HALF_BYTES) turn();
  growTo(top + RLP + MAX_NODE_BYTES);
  return top + RLP;
}

/** Hashes the node that was written at `space`. @returns its hash, until the next call of `space` */
export function hashMade(bytes: u32): usize {
  keccak256(top + RLP, bytes, top);
  return top;
}

/** Keeps the node that was hashed. @returns its hash */
export function keepMade(bytes: u32): usize {
  const hash = hashMade(bytes);
  if (isKnown(lookUp(hash, young)) || isKnown(lookUp(hash, 1 - young))) return hash;
  store<u32>(hash, lastPending, NEXT_PENDING);
  lastPending = hash;
  hasYoungPending = true;
  add(bytes, PENDING);
  return hash;
}

/** @returns the pending node that was made last; 0: there is none */
export function firstPending(): usize {
  return lastPending;
}

export function nextPending(node: usize): usize {
  return load<u32>(node, NEXT_PENDING);
}

/** All pending nodes are in the store. */
export function persisted(): void {
  settle(STORED);
}

/** No pending node is wanted. */
export function drop(): void {
  settle(DROPPED);
}

function settle(state: u32): void {
  for (let node = lastPending; node !== 0; node = nextPending(node)) store<u32>(node, state, STATE);
  lastPending = 0;
  hasYoungPending = false;
  hasOldPending = false;
}

function isKnown(node: usize): bool {
  return node !== 0 && load<u32>(node, STATE) !== DROPPED;
}

/** Adds the node at `top`. */
function add(bytes: u32, state: u32): void {
  const bucket = bucketOf(top, young);
  store<u32>(top, load<u32>(bucket), NEXT);
  store<u32>(top, state, STATE);
  store<u32>(top, bytes, BYTES);
  store<u32>(bucket, top);
  top += (RLP + bytes + 15) & ~15;
}

function lookUp(hash: usize, half: usize): usize {
  let node: usize = load<u32>(bucketOf(hash, half));
  while (node !== 0 && !isSame(node, hash)) node = load<u32>(node, NEXT);
  return node;
}

function isSame(a: usize, b: usize): bool {
  const first = v128.xor(v128.load(a), v128.load(b));
  return !v128.any_true(v128.or(first, v128.xor(v128.load(a, 16), v128.load(b, 16))));
}

function bucketOf(hash: usize, half: usize): usize {
  const index = <usize>((load<u64>(hash) * factor) >> (64 - BUCKET_BITS));
  return BUCKETS + (half << (BUCKET_BITS + 2)) + (index << 2);
}

function turn(): void {
  if (hasOldPending) host.overflow();
  hasOldPending = hasYoungPending;
  hasYoungPending = false;
  young = 1 - young;
  top = NODES + young * HALF_BYTES;
  memory.fill(BUCKETS + (young << (BUCKET_BITS + 2)), 0, 4 << BUCKET_BITS);
}
