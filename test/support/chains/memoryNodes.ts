/** Trie nodes in a map. */
import type {TrieNodes} from "../../../evm/trie/trieNodes.ts";

/** Keeps nodes as a store would; hands out copies, so that nothing can rely on identity. */
export class MemoryNodes implements TrieNodes {
  readonly map: Map<string, Uint8Array>;

  constructor(entries: Iterable<[string, Uint8Array]> = []) {
    this.map = new Map(entries);
  }

  get(key: string): Uint8Array | undefined {
    const value = this.map.get(key);
    return value && Buffer.from(value);
  }

  set(key: string, value: Uint8Array): void {
    this.map.set(key, new Uint8Array(value));
  }
}
