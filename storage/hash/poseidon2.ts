/**
 * Poseidon2 over KoalaBear, in WebAssembly (wasm/poseidon2.ts; docs/proofs.md).
 *
 *   its memory   constants and state, 1 KiB | messages | digests
 */
import {keccak256} from "./keccak.ts";
import type {Exports} from "./poseidon2.wasm.d.ts";
import {loadWasm} from "./webAssembly.ts";

/** The order of the field: 2^31 - 2^24 + 1. */
const P = 2130706433n;
const SEED = "Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]";
const WIDTH = 16;
const FULL_ROUNDS_EACH = 3;
const PARTIAL_ROUNDS = 21;

export const BLOCK_BYTES = 32;
const DIGEST_BYTES = 32;
const MESSAGES_AT_ONCE = 4;

interface Engine {
  readonly wasm: Exports;
  readonly memory: Uint8Array;
  readonly messagesAt: number;
  readonly capacity: number;
}

let engine: Engine | undefined;

/** Made when it is first needed: 5 ms that a store of another suite can do without. */
function createEngine(): Engine {
  const wasm = loadWasm<Exports>(new URL("./poseidon2.wasm", import.meta.url));
  const memory = new Uint8Array(wasm.memory.buffer);
  writeConstants(memory, wasm.constantsAt.value, deriveRoundConstants());
  writeConstants(memory, wasm.diagonalAt.value, deriveDiagonal());
  const messagesAt = wasm.messagesAt.value;
  engine = {wasm, memory, messagesAt, capacity: memory.length - messagesAt};
  return engine;
}

/** @param message - elements below p, of 4 bytes: digests, or from safe(). A short last block is padded on the left */
export function poseidon2(message: Uint8Array): Uint8Array {
  const {wasm, memory, messagesAt, capacity} = engine ?? createEngine();
  wasm.begin();
  const wholeBytes = message.length - (message.length % BLOCK_BYTES);
  for (let at = 0; at < wholeBytes; ) {
    const end = Math.min(at + capacity, wholeBytes);
    memory.set(message.subarray(at, end), messagesAt);
    wasm.absorb(messagesAt, (end - at) / BLOCK_BYTES);
    at = end;
  }
  const rest = message.length - wholeBytes;
  if (rest > 0) {
    memory.fill(0, messagesAt, messagesAt + BLOCK_BYTES - rest);
    memory.set(message.subarray(wholeBytes), messagesAt + BLOCK_BYTES - rest);
    wasm.absorb(messagesAt, 1);
  }
  wasm.finish(messagesAt);
  return new Uint8Array(memory.subarray(messagesAt, messagesAt + DIGEST_BYTES));
}

/**
 * Hashes messages of the same length, four at a time: a third of the time of one after the other.
 *
 * @param messages - `count` messages of `messageBytes` each, a multiple of BLOCK_BYTES, back to back; elements below p
 * @param out - takes 32 bytes for each
 */
export function poseidon2Into(
  messages: Uint8Array,
  count: number,
  messageBytes: number,
  out: Uint8Array,
): void {
  const {wasm, memory, messagesAt, capacity} = engine ?? createEngine();
  const perMessage = messageBytes + DIGEST_BYTES;
  const most = Math.floor(capacity / perMessage / MESSAGES_AT_ONCE) * MESSAGES_AT_ONCE;
  for (let first = 0; first < count; first += most) {
    const some = Math.min(most, count - first);
    const digestsAt = messagesAt + Math.ceil(some / MESSAGES_AT_ONCE) * MESSAGES_AT_ONCE * messageBytes;
    memory.set(messages.subarray(first * messageBytes, (first + some) * messageBytes), messagesAt);
    wasm.hashMessages(messagesAt, some, messageBytes / BLOCK_BYTES, digestsAt);
    out.set(memory.subarray(digestsAt, digestsAt + some * DIGEST_BYTES), first * DIGEST_BYTES);
  }
}

/** In the order of their use: 16 a full round, 1 a partial one. Each is keccak256 of the one before. */
function deriveRoundConstants(): bigint[] {
  const constants: bigint[] = [];
  const count = 2 * FULL_ROUNDS_EACH * WIDTH + PARTIAL_ROUNDS;
  let hash = keccak256(new TextEncoder().encode(SEED));
  for (let i = 0; i < count; i++) {
    hash = keccak256(hash);
    constants.push(BigInt(`0x${Buffer.from(hash).toString("hex")}`) % P);
  }
  return constants;
}

/** d of the internal matrix: -2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, 2^-8, 1/8, 2^-24, -2^-8, -1/8, -1/16, -2^-24. */
function deriveDiagonal(): bigint[] {
  const part = (bits: number): bigint => power((P + 1n) / 2n, bits);
  return [
    ...[P - 2n, 1n, 2n, part(1), 3n, 4n, P - part(1), P - 3n, P - 4n],
    ...[part(8), part(3), part(24), P - part(8), P - part(3), P - part(4), P - part(24)],
  ];
}

function power(base: bigint, exponent: number): bigint {
  let result = 1n;
  for (let i = 0; i < exponent; i++) result = (result * base) % P;
  return result;
}

function writeConstants(memory: Uint8Array, at: number, constants: readonly bigint[]): void {
  const view = new DataView(memory.buffer, at);
  for (const [i, constant] of constants.entries()) view.setUint32(4 * i, Number((constant << 32n) % P), true);
}
