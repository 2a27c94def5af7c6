/** The WebAssembly module that reads and writes tries (wasm/main.ts). */
import {loadWasm} from "../hash/webAssembly.ts";
import type {Exports} from "./trie.wasm.d.ts";

const HASH_BYTES = 32;

export interface TrieHost {
  /** Writes the body of a page. @returns its length. @throws if there is no such page, or it is too long */
  load(page: number, to: number): number;
  /** Stores a page. @param before - the page that it replaces; 0: none. @returns its number */
  put(from: number, bytes: number, before: number): number;
  /** Sets the value of a write, computed from the current one. @param bytes - its length; 0: there is none */
  make(position: number, from: number, bytes: number): void;
  /** @throws an error that names the page */
  refuse(page: number): void;
  /** Writes the RLP of the node with the hash at `hash`. @returns its length; 0: it is not known */
  node(hash: number, to: number): number;
  /** Keeps the RLP of a node that no page has. */
  keep(from: number, bytes: number): void;
  /** @returns the root page of the storage trie of the account at the path at `path`; 0: not known */
  storage(path: number): number;
  /** @throws an error that names the node */
  miss(hash: number): void;
  /** @throws an error that names the node */
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
