/** A chain whose whole states are in memory, and what a store of slices takes from its blocks. */
import {createHash} from "node:crypto";
import {Random} from "../../../load/requests/random.ts";
import type {AccountChange} from "../../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import type {SliceContract} from "../../../storage/block/sliceBlock.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {SliceTrie} from "../../../storage/commit/sliceTrie.ts";
import {StateTrie} from "../../../storage/commit/stateTrie.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {EMPTY_TRIE, TrieReader, type TrieRoot} from "../../../storage/trie/trie.ts";
import {decodeSlot, readTrieAccount} from "../../../storage/trie/trieAccount.ts";
import {MAX_PATH_BYTES, TriePath} from "../../../storage/trie/triePath.ts";
import type {TriePages} from "../../../storage/trie/trieStore.ts";

/** Contracts that may be in slices; the last one is empty from time to time. */
export const CONTRACTS: readonly Uint8Array[] = [0, 1, 2].map(number => bytesOf(20, `contract ${number}`));
const SLOTS = 40;
/** By contract: of a few slots, of many, and of as many as there are. */
export const SLOTS_OF: readonly (readonly Uint8Array[])[] = [6, 30, SLOTS].map(count =>
  Array.from({length: count}, (_, slot) => bytesOf(32, `slot ${slot}`)),
);
const OTHERS = 60;
const CODE = Uint8Array.of(0x60, 0);

export function bytesOf(length: number, text: string): Uint8Array {
  return createHash("sha512").update(text).digest().subarray(0, length);
}

interface ChainBlock {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly trie: TrieRoot;
  /** Slots that it changed, by contract. */
  readonly changed: readonly (readonly Uint8Array[])[];
}

export class RandomSlices {
  private readonly tries = new MemoryTries();
  private readonly prover = new TrieProver(this.tries);
  private readonly dice: Random;
  private readonly blocks: ChainBlock[] = [];
  private made = 0;

  /** @param first - the number of the first block, above 0 */
  constructor(
    readonly first: number,
    seed: number,
  ) {
    this.dice = new Random(seed, 1);
  }

  get latest(): number {
    return this.first + this.blocks.length - 1;
  }

  at(block: number): ChainBlock {
    return this.blocks[block - this.first] as ChainBlock;
  }

  /** Blocks above `block` are replaced by other ones. */
  rollback(block: number): void {
    this.blocks.length = block - this.first + 1;
  }

  /** Changes some slots and accounts: the first block all of them. */
  async grow(): Promise<void> {
    const {dice, blocks} = this;
    const isFirst = blocks.length === 0;
    const accounts = new AccountDifferences();
    const others = new Set(Array.from({length: isFirst ? OTHERS : dice.below(4)}, () => dice.below(OTHERS)));
    for (const other of others)
      accounts.add({address: bytesOf(20, `other ${other}`), change: {balance: BigInt(dice.below(1000))}});
    for (const [at, address] of CONTRACTS.entries()) {
      const change = this.changeContract(at, isFirst);
      if (change !== "none") accounts.add({address, change});
    }
    const before = blocks.at(-1)?.trie ?? EMPTY_TRIE;
    const trie = await new StateTrie(this.tries, before).apply(accounts);
    const changed = CONTRACTS.map((address, at) =>
      (SLOTS_OF[at] as readonly Uint8Array[]).filter(
        slot => this.prover.valueOf(before, address, slot) !== this.prover.valueOf(trie, address, slot),
      ),
    );
    blocks.push({hash: bytesOf(32, `block ${this.made++}`), trie, changed});
  }

  private changeContract(at: number, isFirst: boolean): AccountChange | undefined | "none" {
    const {dice} = this;
    if (!isFirst && dice.below(2) === 0) return "none";
    if (at === CONTRACTS.length - 1 && dice.below(6) === 0) return undefined;
    const slots = SLOTS_OF[at] as readonly Uint8Array[];
    const some = isFirst ? slots.filter(() => dice.below(4) > 0) : [];
    for (let i = isFirst ? 0 : dice.below(6); i > 0; i--)
      some.push(slots[dice.below(slots.length)] as Uint8Array);
    const storage = [...new Set(some)].map(slot => ({
      slot,
      value: new Uint8Array(32).fill(dice.below(3), 31),
    }));
    return {nonce: BigInt(dice.below(1000)), code: CODE, storage};
  }

  /** A slice of a block. @param contracts - positions in CONTRACTS; in `whole`, those that are loaded as a whole */
  take(
    block: number,
    isFresh: boolean,
    contracts: readonly number[],
    whole: readonly number[] = [],
  ): BlockDifference {
    const {trie, changed} = this.at(block);
    const nodes: Uint8Array[] = [];
    const parts = contracts.map((at): SliceContract => {
      const address = CONTRACTS[at] as Uint8Array;
      const slots = isFresh ? [] : (changed[at] as readonly Uint8Array[]);
      nodes.push(...this.prover.prove(trie, address).account);
      for (const slot of slots) nodes.push(...this.prover.prove(trie, address, slot).slot);
      const parent = isFresh ? EMPTY_TRIE : this.at(block - 1).trie;
      const all = (SLOTS_OF[at] as readonly Uint8Array[]).flatMap(slot => {
        const value = this.prover.valueOf(trie, address, slot);
        return value === ""
          ? []
          : [{path: keccak256(slot), value: Buffer.from(value.padStart(64, "0"), "hex")}];
      });
      return {
        address,
        slots: slots.map(slot => ({slot, before: this.prover.prove(parent, address, slot).slot})),
        whole: whole.includes(at) ? all.sort((a, b) => Buffer.compare(a.path, b.path)) : undefined,
      };
    });
    return {...this.describe(block), slice: {nodes, contracts: parts, isFresh}};
  }

  miss(block: number): BlockDifference {
    return {...this.describe(block), slice: "missed"};
  }

  private describe(number: number): BlockDifference {
    const {hash, trie} = this.at(number);
    const parentHash = number === this.first ? bytesOf(32, "before") : this.at(number - 1).hash;
    const first = number === this.first ? {number, ancestors: [parentHash]} : undefined;
    const header = {number, hash, parentHash, stateRoot: trie.root};
    return {header, accounts: new AccountDifferences(), first, chain: first && {chainId: 1n}};
  }

  /** As TrieProver.proveText, from the whole state. */
  prove(block: number, contract: number, slot: Uint8Array): string {
    return this.prover.proveText(this.at(block).trie, contract, slot);
  }
}

/** Applies and commits a block of a slice. */
export async function applySlice(writer: BlockWriter, block: BlockDifference): Promise<void> {
  const prepared = await writer.prepare(block);
  const {header, slice} = block;
  if (slice === undefined || slice === "missed") return writer.commit(prepared);
  try {
    const stateRoot = header.stateRoot as Uint8Array;
    const {trie} = await new SliceTrie(writer.batch).apply(
      writer.trie,
      {number: header.number, stateRoot},
      slice,
    );
    writer.commit(prepared, {trie: {...trie, isExecuted: false}});
  } catch (error) {
    prepared.drop();
    throw error;
  }
}

interface SlotProof {
  readonly account: Uint8Array[];
  readonly slot: Uint8Array[];
}

/** Proofs from a whole state or a slice. */
export class TrieProver {
  private readonly reader: TrieReader;
  private readonly path: TriePath;

  constructor(pages: TriePages) {
    this.reader = new TrieReader(pages);
    this.path = new TriePath(this.reader, new Uint8Array(MAX_PATH_BYTES));
  }

  /** @returns the nodes of an account's and a slot's proof. @throws NodeMissing; StoreError */
  proveText(trie: TrieRoot, contract: number, slot: Uint8Array): string {
    const proof = this.prove(trie, CONTRACTS[contract] as Uint8Array, slot);
    return [...proof.account, ...proof.slot].map(toHex).join(" ");
  }

  prove(trie: TrieRoot, address: Uint8Array, slot?: Uint8Array): SlotProof {
    const value = this.path.open(trie.page, keccak256(address), "accounts", false, trie.root);
    const account = this.list();
    if (slot === undefined || value === undefined) return {account, slot: []};
    const {storage} = readTrieAccount(value);
    this.path.open(storage.page, keccak256(slot), "slots", false, storage.root);
    return {account, slot: this.list()};
  }

  /** @returns digits; empty: zero */
  valueOf({page}: TrieRoot, address: Uint8Array, slot: Uint8Array): string {
    const account = page === 0 ? undefined : this.reader.find(page, keccak256(address), "accounts");
    if (account === undefined) return "";
    const {storage} = readTrieAccount(account);
    const value = storage.page === 0 ? undefined : this.reader.find(storage.page, keccak256(slot), "slots");
    return value === undefined ? "" : Buffer.from(decodeSlot(value)).toString("hex");
  }

  private list(): Uint8Array[] {
    const {bytes, ends, count} = this.path;
    return Array.from({length: count}, (_, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], ends[i]));
  }
}
