/** The WebAssembly module that reads and writes tries (wasm/main.ts). */
import {loadWasm, type WasmConstant, type WasmMemory} from "../hash/webAssembly.ts";

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

interface Exports {
  readonly memory: WasmMemory;
  readonly pathAt: WasmConstant;
  readonly referenceAt: WasmConstant;
  readonly resultAt: WasmConstant;
  readonly rootAt: WasmConstant;
  readonly entriesAt: WasmConstant;
  readonly entryBytes: WasmConstant;
  readonly unmade: WasmConstant;
  readonly maxEntries: WasmConstant;
  readonly messageAt: WasmConstant;
  readonly messageBytes: WasmConstant;
  readonly baseAt: WasmConstant;
  readonly stepsAt: WasmConstant;
  readonly gatheredAt: WasmConstant;
  readonly endsAt: WasmConstant;
  readonly maxList: WasmConstant;
  readonly maxPageBytes: WasmConstant;
  readonly maxNodeBytes: WasmConstant;
  readonly maxValueBytes: WasmConstant;
  find(page: number, areAccounts: boolean): number;
  walk(page: number, areAccounts: boolean, joins: boolean): number;
  foundBytes(): number;
  gather(): number;
  check(page: number, depth: number, areAccounts: boolean): number;
  update(page: number, count: number, areAccounts: boolean): number;
  absorb(before: number, areAccounts: boolean): number;
  unexplainedPlaces(): number;
  differ(baseBytes: number, page: number, most: number): number;
  positionOf(rank: number, count: number): number;
  beginList(count: number): void;
  beginLeaf(rank: number, count: number, bytes: number, first: number): number;
  endLeaf(rank: number, bytes: number): void;
  endHashedLeaf(rank: number): void;
  endList(count: number): void;
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
