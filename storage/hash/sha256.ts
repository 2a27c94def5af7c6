/** SHA-256 of nodes and leaves, in WebAssembly (wasm/sha256.ts): three to six times as fast as one after the other. */

import type {Exports} from "./sha256.wasm.d.ts";
import {WORD_BYTES} from "./suite.ts";
import {loadWasm} from "./webAssembly.ts";

const wasm = loadWasm<Exports>(new URL("./sha256.wasm", import.meta.url));
const memory = new Uint8Array(wasm.memory.buffer);
const messagesAt = wasm.messagesAt.value;
/** Its vectors have a message in each of four lanes. */
const LANES = 4;
const BLOCK_BYTES = 64;

/**
 * @param messages - `count` messages of `bytes` each, a multiple of 64, back to back; the module's memory has room for four
 * @param out - takes 32 bytes for each. @throws TypeError for another number of bytes
 */
export function sha256Into(messages: Uint8Array, count: number, bytes: number, out: Uint8Array): void {
  const most = Math.floor((memory.length - messagesAt) / bytes / LANES) * LANES;
  if (bytes % BLOCK_BYTES !== 0 || most === 0)
    throw new TypeError(`expected messages of whole blocks of ${BLOCK_BYTES} bytes, got ${bytes} bytes`);
  for (let first = 0; first < count; first += most) {
    const some = Math.min(most, count - first);
    memory.set(messages.subarray(first * bytes, (first + some) * bytes), messagesAt);
    wasm.hashMessages(some, bytes);
    out.set(memory.subarray(messagesAt, messagesAt + some * WORD_BYTES), first * WORD_BYTES);
  }
}

/** @param message - as for sha256Into */
export function sha256(message: Uint8Array): Uint8Array {
  const digest = new Uint8Array(WORD_BYTES);
  sha256Into(message, 1, message.length, digest);
  return digest;
}
