/**
 * Reads the trees of an answer with changes: the account tree, and after each account whose storage differs the changes
 * of its storage tree; or only those of one account (docs/proofs.md, 16.3 and 16.4).
 *
 *   from: account u40, slot u40 | end: account u40, slot u40 | changes of trees
 */
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex, encodeHex, type Hex} from "../bytes/hex.ts";
import type {ByteReader} from "../compact/byteReader.ts";
import {type HashSuite, newTreeRoot} from "../hash/hashSuites.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";
import {check} from "../proof/strictJson.ts";
import {ChangesFold, FlagBits, type LeafChange} from "./foldChanges.ts";
import type {AccountLeaf, EndLeaf, SlotLeaf} from "./treeLeaf.ts";

/**
 * Where an answer begins or ends: at a leaf of the account tree, or of the storage tree of the account at a leaf.
 *
 *   account u40 | slot u40            as one integer: account * 2^40 + slot
 */
export interface ChangeCursor {
  readonly account: number;
  /** 0: the account is the next leaf. */
  readonly slot: number;
}

const LAST_INDEX = 2 ** 40 - 1;
/** The cursor after the last change. Above every other one. */
export const LAST_CURSOR: bigint = 2n ** 80n - 1n;

function readCursor(reader: ByteReader): bigint {
  const account = BigInt(reader.uint(5));
  return (account << 40n) | BigInt(reader.uint(5));
}

export function splitCursor(cursor: bigint): ChangeCursor {
  return {account: Number(cursor >> 40n), slot: Number(cursor & BigInt(LAST_INDEX))};
}

export interface StorageChanges {
  /** Leaf index of the account. An account that was deleted and created again has a new one, and an entry for each. */
  readonly account: number;
  /** `0x` and 40 lower-case digits. */
  readonly address: Hex;
  readonly slots: readonly LeafChange<SlotLeaf>[];
}

export class ChangesReader {
  readonly accounts: LeafChange<AccountLeaf>[] = [];
  readonly storages: StorageChanges[] = [];
  readonly end: bigint;
  private readonly from: ChangeCursor;
  private readonly last: ChangeCursor;
  private readonly bits: FlagBits;
  private readonly newTree: Hex;
  private leafCount = 0;
  private isEndMet = false;

  /** @param hasStorage - storage trees follow accounts. @throws ProofError, as all that reads */
  constructor(
    private readonly suite: HashSuite,
    private readonly reader: ByteReader,
    cursor: bigint,
    private readonly count: number,
    private readonly hasStorage: boolean,
  ) {
    const begin = readCursor(reader);
    this.end = readCursor(reader);
    check(begin === cursor, "from", () => `expected ${shown(cursor)}, got ${shown(begin)}`);
    check(this.end > cursor, "end", () => `expected more than ${shown(cursor)}, got ${shown(this.end)}`);
    this.from = splitCursor(cursor);
    this.last = splitCursor(this.end);
    this.bits = new FlagBits(reader);
    this.newTree = encodeHex(newTreeRoot(suite));
  }

  readAccounts(from: Uint8Array, to: Uint8Array): void {
    const opened = {
      from: this.from.account,
      last: this.last.account,
      isLastClosed: this.last.slot === 0,
    };
    const fold = new ChangesFold(this.suite, this.reader, this.bits, "accounts", opened, change =>
      this.takeAccount(change),
    );
    const [before, after] = fold.fold();
    check(isEqual(before, from), "accountTree of fromBlock", "does not fold to the trusted root");
    check(isEqual(after, to), "accountTree of toBlock", "does not fold to the trusted root");
    if (fold.isLastMet) this.isEndMet = true;
  }

  /** Reads the storage of the account at its old and at its new leaf index, which may be the same. */
  readStorage(address: Hex, before: ProvenAccount | undefined, after: ProvenAccount | undefined): void {
    const {newTree} = this;
    const [old, young] = [before?.storageRoot ?? newTree, after?.storageRoot ?? newTree];
    if (before !== undefined && before.leafIndex === after?.leafIndex)
      this.readTree(before.leafIndex, address, old, young);
    else {
      const oldIndex = before?.leafIndex ?? LAST_INDEX;
      const youngIndex = after?.leafIndex ?? LAST_INDEX;
      if (oldIndex < youngIndex) this.readTree(oldIndex, address, old, newTree);
      this.readTree(youngIndex, address, newTree, young);
      if (oldIndex > youngIndex) this.readTree(oldIndex, address, old, newTree);
    }
  }

  /** @returns whether this answer is the last. @throws ProofError */
  finish(): boolean {
    this.bits.end();
    this.reader.end();
    const isLast = this.end === LAST_CURSOR;
    check(isLast || this.isEndMet, "end", () => `no leaf differs at ${shown(this.end)}`);
    return isLast;
  }

  private takeAccount(change: LeafChange<AccountLeaf>): void {
    const {leafIndex, before, after} = change;
    // An answer that begins within the storage of an account repeats its leaf.
    const wasShown = leafIndex === this.from.account && this.from.slot > 0;
    if (!wasShown) {
      this.accounts.push(change);
      this.countLeaf();
    }
    const known = [before, after].find(leaf => leaf?.role === "account") as AccountLeaf | undefined;
    if (!this.hasStorage || known === undefined) return;
    this.readTree(leafIndex, known.address, this.storageOf(before), this.storageOf(after));
  }

  private storageOf(leaf: AccountLeaf | EndLeaf | undefined): Hex {
    return leaf?.role === "account" ? leaf.account.storageRoot : this.newTree;
  }

  /** Reads the changes of one account's storage, if any. @param before - the storageRoot, as `after` */
  private readTree(account: number, address: Hex, before: Hex, after: Hex): void {
    const {from, last} = this;
    if (before === after || account < from.account || account > last.account) return;
    const slots: LeafChange<SlotLeaf>[] = [];
    const opened = {
      from: account === from.account ? from.slot : 0,
      last: account === last.account ? last.slot : LAST_INDEX,
      isLastClosed: account === last.account,
    };
    const fold = new ChangesFold(this.suite, this.reader, this.bits, "slots", opened, change => {
      slots.push(change);
      // The head does not count, so that an account is never without its storage.
      if (change.leafIndex > 0) this.countLeaf();
    });
    const [old, young] = fold.fold();
    const rule = "does not fold to the account's storageRoot";
    check(isEqual(old, decodeHex(before)), `storageTree of account ${account} at fromBlock`, rule);
    check(isEqual(young, decodeHex(after)), `storageTree of account ${account} at toBlock`, rule);
    if (fold.isLastMet) this.isEndMet = true;
    if (slots.length > 0) this.storages.push({account, address, slots});
  }

  private countLeaf(): void {
    this.leafCount++;
    check(this.leafCount <= this.count, "count", () => `expected ${this.count} leaves at most`);
  }
}

function shown(cursor: bigint): string {
  const {account, slot} = splitCursor(cursor);
  return `account ${account}, slot ${slot}`;
}
