/** The WebAssembly that tries are made of (wasm/main.ts). */
import {loadWasm, type WasmConstant, type WasmMemory} from "../../storage/hash/webAssembly.ts";

const HASH_BYTES = 32;

/** What the module asks for. */
interface TrieHost {
  /** Writes the RLP of a stored node. @returns its length. @throws if there is no such node, or it is too long */
  load(hashAt: number, to: number): number;
  /** Stores the pending nodes. */
  overflow(): void;
  /** @throws an error that names the node */
  refuse(hashAt: number): void;
}

interface Exports {
  readonly memory: WasmMemory;
  readonly rootAt: WasmConstant;
  readonly pathAt: WasmConstant;
  readonly resultAt: WasmConstant;
  readonly entriesAt: WasmConstant;
  readonly entryBytes: WasmConstant;
  readonly maxEntries: WasmConstant;
  readonly messageAt: WasmConstant;
  readonly messageBytes: WasmConstant;
  readonly maxList: WasmConstant;
  readonly maxNodeBytes: WasmConstant;
  readonly maxValueBytes: WasmConstant;
  seed(random: bigint): void;
  find(): number;
  foundBytes(): number;
  update(count: number): void;
  firstPending(): number;
  nextPending(node: number): number;
  persisted(): void;
  drop(): void;
  positionOf(rank: number, count: number): number;
  beginList(count: number): void;
  beginLeaf(rank: number, count: number, bytes: number, first: number): number;
  endLeaf(rank: number, bytes: number): void;
  endHashedLeaf(rank: number): void;
  endList(count: number): void;
}

/** An instance with memory of its own: 1.2 MB at first, 40 MB at most. */
export class TrieModule {
  readonly wasm: Exports;
  private bytes = new Uint8Array(0);
  /** The same memory. */
  private buffer = Buffer.alloc(0);

  constructor(host: TrieHost) {
    this.wasm = loadWasm<Exports>(new URL("./trie.wasm", import.meta.url), {host: {...host}});
  }

  private refresh(): void {
    if (this.bytes.length > 0) return;
    this.bytes = new Uint8Array(this.wasm.memory.buffer);
    this.buffer = Buffer.from(this.wasm.memory.buffer);
  }

  /** A call that makes the memory grow takes it from the arrays that were made before. */
  get memory(): Uint8Array {
    this.refresh();
    return this.bytes;
  }

  /** 32 bytes. */
  get result(): Uint8Array {
    const at = this.wasm.resultAt.value;
    return this.memory.slice(at, at + HASH_BYTES);
  }

  hexAt(hashAt: number): string {
    this.refresh();
    return this.buffer.toString("hex", hashAt, hashAt + HASH_BYTES);
  }
}
