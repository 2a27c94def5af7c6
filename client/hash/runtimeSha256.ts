/** SHA-256 of the runtime where it has one that answers at once (Node, Deno, Bun), and of @noble/hashes elsewhere. */
import {sha256} from "@noble/hashes/sha2.js";

/** What is used of node:crypto. Versions before Node 20.12 have no `hash`. */
interface RuntimeCrypto {
  hash?(algorithm: "sha256", bytes: Uint8Array, encoding: "buffer"): Uint8Array;
}

/** Of Node from 20.16 on, Deno and Bun. It needs no import, which browsers and bundlers could not follow. */
interface Runtime {
  readonly process?: {getBuiltinModule?(name: string): unknown};
}

/** @returns a module of Node's own; undefined: the runtime has none of this name */
export function builtinModule<Module>(name: string): Module | undefined {
  return (globalThis as Runtime).process?.getBuiltinModule?.(name) as Module | undefined;
}

/** A hash of 128 bytes takes 0.9 us, and 2.2 us with @noble/hashes; of 32 bytes 0.8 and 1.4 (docs/benchmarks.md). */
export function chooseSha256(): (bytes: Uint8Array) => Uint8Array {
  const hash = builtinModule<RuntimeCrypto>("node:crypto")?.hash;
  if (hash === undefined) return sha256;
  return bytes => {
    const {buffer, byteOffset, length} = hash("sha256", bytes, "buffer");
    // Not Node's Buffer: where code meets both, V8 runs all of it more slowly.
    return new Uint8Array(buffer, byteOffset, length);
  };
}
