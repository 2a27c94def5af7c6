/**
 * Accounts with storage, collected while a pull reads the account tree. Each is packed into 25 bytes:
 *
 *   leaf index u40 | address 20
 *
 * Memory is bounded: those beyond a limit are found later, by reading the account tree a second time.
 */
import {decodeHex, encodeHex, type Hex} from "../bytes/hex.ts";
import {HASH_SUITES, newTreeRoot} from "../hash/hashSuites.ts";
import type {TreeLeaf} from "../leaves/treeLeaf.ts";
import type {TreeRange} from "./treeRanges.ts";

export interface StoredAccount {
  readonly leafIndex: number;
  /** `0x` and 40 lower-case digits. */
  readonly address: Hex;
}

const INDEX_BYTES = 5;
const ENTRY_BYTES = INDEX_BYTES + 20;
const FIRST_ENTRIES = 1024;
/** 13 MB. */
const MOST_ENTRIES = 1 << 19;

export class StoredAccounts {
  /** Accounts from `readFrom` to before this leaf index are remembered. */
  readTo: number;
  private entries = new Uint8Array(FIRST_ENTRIES * ENTRY_BYTES);
  private count = 0;
  private isFull = false;

  constructor(
    readonly readFrom: number,
    private readonly most = MOST_ENTRIES,
  ) {
    this.readTo = readFrom;
  }

  /** Adds those of the next range, unless there are too many. */
  add({leaves, end}: TreeRange): void {
    const stored = listStored(leaves);
    this.isFull ||= this.count + stored.length > this.most;
    if (this.isFull) return;
    for (const account of stored) this.write(account);
    this.readTo = end;
  }

  *list(): Generator<StoredAccount, void, void> {
    const {entries} = this;
    const view = new DataView(entries.buffer);
    for (let at = 0; at < this.count * ENTRY_BYTES; at += ENTRY_BYTES) {
      const leafIndex = view.getUint8(at) * 2 ** 32 + view.getUint32(at + 1);
      yield {leafIndex, address: encodeHex(entries.subarray(at + INDEX_BYTES, at + ENTRY_BYTES))};
    }
  }

  private write({leafIndex, address}: StoredAccount): void {
    const at = this.count++ * ENTRY_BYTES;
    if (at === this.entries.length) {
      const larger = new Uint8Array(2 * at);
      larger.set(this.entries);
      this.entries = larger;
    }
    const view = new DataView(this.entries.buffer);
    view.setUint8(at, Math.floor(leafIndex / 2 ** 32));
    view.setUint32(at + 1, leafIndex % 2 ** 32);
    this.entries.set(decodeHex(address), at + INDEX_BYTES);
  }
}

/** Roots of new trees, of all suites. */
let newTrees: ReadonlySet<string> | undefined;

export function listStored(leaves: readonly TreeLeaf[]): StoredAccount[] {
  newTrees ??= new Set(HASH_SUITES.map(suite => encodeHex(newTreeRoot(suite))));
  const stored: StoredAccount[] = [];
  for (const leaf of leaves)
    if (leaf.role === "account" && !newTrees.has(leaf.account.storageRoot))
      stored.push({leafIndex: leaf.leafIndex, address: leaf.address});
  return stored;
}
