/** Keccak-256 in WebAssembly (wasm/keccak.ts): 20 times as fast as @noble/hashes on code and trie nodes. */

import type {Exports} from "./keccak.wasm.d.ts";
import {loadWasm} from "./webAssembly.ts";

const BLOCK_BYTES = 136;
const DIGEST_BYTES = 32;

const wasm = loadWasm<Exports>(new URL("./keccak.wasm", import.meta.url));
const memory = new Uint8Array(wasm.memory.buffer);
const messagesAt = wasm.messagesAt.value;
const capacity = memory.length - messagesAt - ((memory.length - messagesAt) % BLOCK_BYTES);

/** @returns 32 bytes that no later call overwrites */
export function keccak256(message: Uint8Array): Uint8Array {
  const {length} = message;
  if (length > capacity) hashInParts(message);
  else {
    memory.set(message, messagesAt);
    wasm.keccak256(messagesAt, length, messagesAt);
  }
  return memory.slice(messagesAt, messagesAt + DIGEST_BYTES);
}

/** Of no bytes: the hash of no code. */
export const KECCAK_EMPTY: Uint8Array = keccak256(new Uint8Array(0));

function hashInParts(message: Uint8Array): void {
  wasm.begin();
  let at = 0;
  for (; message.length - at >= capacity; at += capacity) {
    memory.set(message.subarray(at, at + capacity), messagesAt);
    wasm.absorb(messagesAt, capacity / BLOCK_BYTES);
  }
  const rest = message.length - at;
  const blocks = Math.floor(rest / BLOCK_BYTES);
  memory.set(message.subarray(at), messagesAt);
  wasm.absorb(messagesAt, blocks);
  wasm.finish(messagesAt + blocks * BLOCK_BYTES, rest - blocks * BLOCK_BYTES, messagesAt);
}
