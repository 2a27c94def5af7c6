/** The WebAssembly module that reads and writes tries (wasm/main.ts). */
import {loadWasm} from "../hash/webAssembly.ts";
import type {Exports} from "./trie.wasm.d.ts";

const HASH_BYTES = 32;

/** Documented in wasm/host.ts. */
export interface TrieHost {
  load(page: number, to: number): number;
  put(from: number, bytes: number, before: number): number;
  refuse(page: number): void;
  make(position: number, value: number, bytes: number): void;
  node(hash: number, to: number): number;
  keep(from: number, bytes: number): void;
  storage(path: number): number;
  miss(hash: number): void;
  refuseNode(hash: number, depth: number): void;
}

function missing(): never {
  throw new Error("the module of a trie called a function that its user does not have");
}

const NO_HOST: TrieHost = {
  ...{load: missing, put: missing, make: missing, refuse: missing, node: missing},
  ...{keep: missing, storage: missing, miss: missing, refuseNode: missing},
};

/** An instance with its own memory: 1.2 MB at first, 17 MB at most. */
export class TrieModule {
  readonly wasm: Exports;
  private bytes = new Uint8Array(0);
  private numbers = new Uint32Array(0);

  /** @param host - what the calls of this user need */
  constructor(host: Partial<TrieHost>) {
    this.wasm = loadWasm<Exports>(new URL("./trie.wasm", import.meta.url), {host: {...NO_HOST, ...host}});
  }

  /** When a call grows the memory, arrays that were made before are detached. */
  get memory(): Uint8Array {
    if (this.bytes.length === 0) this.bytes = new Uint8Array(this.wasm.memory.buffer);
    return this.bytes;
  }

  get words(): Uint32Array {
    if (this.numbers.length === 0) this.numbers = new Uint32Array(this.wasm.memory.buffer);
    return this.numbers;
  }

  get result(): Uint8Array {
    const at = this.wasm.resultAt.value;
    return this.memory.slice(at, at + HASH_BYTES);
  }
}
