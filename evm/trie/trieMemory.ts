/**
 * Merkle-Patricia tries in linear memory: finding a path, and writing many at once. New nodes stay there until they are persisted
 * or dropped.
 *
 *   entry (a write)   path 32 | u32 | bytes of the value u32, below 256 | value      wasm/layout.ts
 *   node              hash 32 | 3 * u32 | bytes u32, below 65536 | RLP               wasm/nodes.ts
 */
import {randomBytes} from "node:crypto";
import {StoreError} from "../../storage/errors.ts";
import {ExecutionError} from "../execution/executionError.ts";
import {TrieModule} from "./trieModule.ts";
import type {TrieNodes} from "./trieNodes.ts";

export interface TrieWrite {
  /** 32 bytes. */
  readonly path: Uint8Array;
  /** At least 1 byte, and at most as many as an account needs. undefined: the path is removed, if it is there. */
  readonly value: Uint8Array | undefined;
}

const VALUE_BYTES_AT = 36;
const VALUE_AT = 40;
const NODE_BYTES_AT = 44;
const NODE_AT = 48;

export class TrieMemory {
  private readonly module = new TrieModule({
    load: (hashAt, to) => this.load(hashAt, to),
    overflow: () => this.persist(),
    refuse: hashAt => {
      throw new StoreError(
        "RECORD_DAMAGED",
        `trie node 0x${this.module.hexAt(hashAt)}: these are not the bytes of a node here`,
      );
    },
  });

  constructor(private readonly nodes: TrieNodes) {
    this.module.wasm.seed(randomBytes(8).readBigUInt64LE());
  }

  /**
   * @param path - 32 bytes
   * @returns a view until the next call; undefined if the trie does not have the path
   * @throws ExecutionError STATE_MISSING, StoreError RECORD_DAMAGED
   */
  find(root: Uint8Array, path: Uint8Array): Uint8Array | undefined {
    const {wasm, memory} = this.module;
    memory.set(root, wasm.rootAt.value);
    memory.set(path, wasm.pathAt.value);
    const at = wasm.find();
    return at === 0 ? undefined : this.module.memory.subarray(at, at + wasm.foundBytes());
  }

  /**
   * @param writes - of those with the same path the last counts
   * @returns the root of the trie with the writes. Its new nodes are pending
   * @throws ExecutionError STATE_MISSING, StoreError RECORD_DAMAGED
   */
  update(root: Uint8Array, writes: readonly TrieWrite[]): Uint8Array {
    const {wasm} = this.module;
    const most = wasm.maxEntries.value;
    let result = root;
    for (let first = 0; first < writes.length; first += most) {
      const count = Math.min(most, writes.length - first);
      for (let i = 0; i < count; i++) this.putEntry(i, writes[first + i]);
      this.module.memory.set(result, wasm.rootAt.value);
      wasm.update(count);
      result = this.module.result;
    }
    return result;
  }

  /** Puts every pending node into the store. More of them than fit into the memory are put earlier. */
  persist(): void {
    const {wasm, memory} = this.module;
    for (let node = wasm.firstPending(); node !== 0; node = wasm.nextPending(node)) {
      const bytes = memory[node + NODE_BYTES_AT] + 256 * memory[node + NODE_BYTES_AT + 1];
      this.nodes.set(this.module.hexAt(node), memory.slice(node + NODE_AT, node + NODE_AT + bytes));
    }
    wasm.persisted();
  }

  /** Drops every pending node. */
  drop(): void {
    this.module.wasm.drop();
  }

  private putEntry(position: number, {path, value}: TrieWrite): void {
    const {wasm, memory} = this.module;
    const at = wasm.entriesAt.value + position * wasm.entryBytes.value;
    memory.set(path, at);
    memory[at + VALUE_BYTES_AT] = value?.length ?? 0;
    if (value === undefined) return;
    if (value.length === 0 || value.length > wasm.maxValueBytes.value)
      throw new RangeError(`expected a value of 1 to ${wasm.maxValueBytes.value} bytes, got ${value.length}`);
    memory.set(value, at + VALUE_AT);
  }

  private load(hashAt: number, to: number): number {
    const name = this.module.hexAt(hashAt);
    const bytes = this.nodes.get(name);
    if (bytes === undefined)
      throw new ExecutionError("STATE_MISSING", `trie node 0x${name} is not in this store`);
    const {wasm, memory} = this.module;
    const most = wasm.maxNodeBytes.value;
    if (bytes.length > most)
      throw new StoreError(
        "RECORD_DAMAGED",
        `trie node 0x${name}: expected at most ${most} bytes, got ${bytes.length}`,
      );
    memory.set(bytes, to);
    return bytes.length;
  }
}
