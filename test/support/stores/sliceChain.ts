/** A chain of one contract, its node's answers of eth_getProof at the head, and a store of slices that records it. */
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {SliceTrie} from "../../../storage/commit/sliceTrie.ts";
import {KECCAK_EMPTY, keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {EMPTY_TRIE, TrieReader, type TrieRoot, TrieWriter} from "../../../storage/trie/trie.ts";
import {encodeSlot, encodeTrieAccount} from "../../../storage/trie/trieAccount.ts";
import {MAX_PATH_BYTES, TriePath} from "../../../storage/trie/triePath.ts";
import {MemoryPages} from "./memoryPages.ts";
import {hashOf} from "./writtenStore.ts";

export const CONTRACT = `0x${"c0".repeat(20)}`;
const ADDRESS = Buffer.alloc(20, 0xc0);
const OTHER_ACCOUNTS = 50;

interface SlotProof {
  readonly key: string;
  readonly proof: readonly string[];
}

export function slotText(slot: number): string {
  return `0x${slot.toString(16).padStart(64, "0")}`;
}

export class SliceChain {
  private readonly pages = new MemoryPages();
  private readonly writer = new TrieWriter(this.pages);
  private readonly path = new TriePath(new TrieReader(this.pages), new Uint8Array(MAX_PATH_BYTES));
  private storage = EMPTY_TRIE;
  private state = EMPTY_TRIE;
  private number = -1;

  /** Values by slot, at block 0. */
  constructor(slots: ReadonlyMap<number, number>) {
    for (let other = 0; other < OTHER_ACCOUNTS; other++)
      this.putAccount(keccak256(Uint8Array.of(other)), EMPTY_TRIE);
    this.putSlots(slots);
  }

  /** Writes a store of blocks 0 to `blocks.length`, all final. @param blocks - what each writes; a value of 0 removes */
  async fill(directory: string, blocks: readonly ReadonlyMap<number, number>[]): Promise<void> {
    const options = {
      directory,
      role: "owner",
      createIfMissing: true,
      suite: "keccak",
      cacheBytes: 1 << 20,
    } as const;
    const store = await StateStore.open(options);
    const writer = await BlockWriter.create(store);
    const slices = new SliceTrie(writer.batch);
    for (const writes of [new Map<number, number>(), ...blocks]) {
      const block = this.write(writes);
      const prepared = await writer.prepare(block);
      const {number, stateRoot} = block.header;
      if (stateRoot === undefined || typeof block.slice !== "object") throw new Error("no slice");
      const {trie} = await slices.apply(writer.trie, {number, stateRoot}, block.slice);
      writer.commit(prepared, {trie: {...trie, isExecuted: false}});
      writer.markFinalized(number);
    }
    await writer.flush();
    await store.close();
  }

  /** The answer of eth_getProof at the head, as far as it is read. @param slots - 0x text of 32 bytes each */
  prove(slots: readonly string[]): {
    readonly storageHash: string;
    readonly storageProof: readonly SlotProof[];
  } {
    return {
      storageHash: toHex(this.storage.root),
      storageProof: slots.map(key => ({key, proof: this.proveSlot(bytesOf(key)).map(toHex)})),
    };
  }

  /** Writes the next block to the chain alone. */
  write(writes: ReadonlyMap<number, number>): BlockDifference {
    const slots = [...writes.keys()].map(slot => {
      const bytes = bytesOf(slotText(slot));
      return {slot: bytes, before: this.proveSlot(bytes)};
    });
    this.putSlots(writes);
    const nodes = [
      ...this.open(this.state, keccak256(ADDRESS), "accounts"),
      ...slots.flatMap(({slot}) => this.proveSlot(slot)),
    ];
    const number = ++this.number;
    return {
      header: {
        number,
        hash: hashOf(number, 1),
        parentHash: hashOf(number - 1, 1),
        stateRoot: this.state.root,
      },
      accounts: new AccountDifferences(),
      slice: {nodes, contracts: [{address: ADDRESS, slots}], isFresh: number === 0},
    };
  }

  private putSlots(values: ReadonlyMap<number, number>): void {
    const writes = [...values].map(([slot, value]) => ({
      path: keccak256(bytesOf(slotText(slot))),
      value: encodeSlot(bytesOf(slotText(value))),
    }));
    this.storage = this.writer.update(this.storage, writes, "slots");
    this.putAccount(keccak256(ADDRESS), this.storage);
  }

  private putAccount(path: Uint8Array, storage: TrieRoot): void {
    const value = encodeTrieAccount({nonce: 1n, balance: 2n, storage, codeHash: KECCAK_EMPTY});
    this.state = this.writer.update(this.state, [{path, value}], "accounts");
  }

  private proveSlot(slot: Uint8Array): Uint8Array[] {
    return this.open(this.storage, keccak256(slot), "slots");
  }

  private open({page}: TrieRoot, path: Uint8Array, kind: "accounts" | "slots"): Uint8Array[] {
    this.path.open(page, path, kind);
    const {bytes, ends, count} = this.path;
    return Array.from({length: count}, (_, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], ends[i]));
  }
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}
