/**
 * What differs between two blocks, verified (docs/proofs.md, section 16).
 *
 *   0x04 | block | block | [storage of one account: its proof at both blocks, each after its length u16]
 *        | from: account u40, slot u40 | end: account u40, slot u40 | changes of trees
 */
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {ByteReader} from "../compact/byteReader.ts";
import {verifyMultiProof} from "../compact/compactProof.ts";
import {type HashSuite, newTreeRoot} from "../hash/hashSuites.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";
import {check} from "../proof/strictJson.ts";
import {type AnsweredBlock, readBlock} from "./blockBytes.ts";
import {
  type ChangeCursor,
  isBefore,
  isSameCursor,
  joinCursor,
  LAST,
  readCursor,
  splitCursor,
} from "./changeCursor.ts";
import {FlagBits} from "./flagBits.ts";
import {ChangesFold, type LeafChange} from "./foldChanges.ts";
import type {AccountLeaf, EndLeaf, SlotLeaf} from "./treeLeaf.ts";

/** What was asked for. */
export interface ChangesRequest {
  /** "accounts", "all" for accounts and their storage, or the address of an account for its storage. */
  readonly tree: string;
  /** 0n, or the `end` of the answer before. */
  readonly cursor: bigint;
  /** Leaves, at most. */
  readonly count: number;
}

/** The trusted roots of the two blocks, 32 bytes each. */
export interface ComparedRoots {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** What differs in the storage of one account. */
export interface StorageChanges {
  /** Leaf index of the account. One that was deleted and created again has another one since then, and two of these. */
  readonly account: number;
  /** `0x` and 40 lower-case digits; undefined: the server knows only its hash. */
  readonly address: string | undefined;
  readonly slots: readonly LeafChange<SlotLeaf>[];
}

/** All that differs from the request's cursor to `end`, in the order of leaf indexes. */
export interface ChangeRange {
  readonly fromBlock: AnsweredBlock;
  readonly toBlock: AnsweredBlock;
  readonly accounts: readonly LeafChange<AccountLeaf>[];
  readonly storages: readonly StorageChanges[];
  /** Of the storage of one account: the account at both blocks, undefined if it is absent. Else undefined. */
  readonly account: {readonly before?: ProvenAccount; readonly after?: ProvenAccount} | undefined;
  /** Where the next answer begins; undefined: this one is the last. */
  readonly end: bigint | undefined;
}

const FIRST_BYTE = 0x04;
const ACCOUNTS = "accounts";
const ALL = "all";

/** The blocks that an answer names, before anything is verified. @throws ProofError */
export function readComparedBlocks(bytes: Uint8Array): readonly [from: AnsweredBlock, to: AnsweredBlock] {
  return openAnswer(new ByteReader(bytes));
}

function openAnswer(reader: ByteReader): readonly [from: AnsweredBlock, to: AnsweredBlock] {
  const first = reader.u8();
  check(first === FIRST_BYTE, "byte 0", `expected ${FIRST_BYTE}, got ${first}`);
  return [readBlock(reader), readBlock(reader)];
}

/**
 * Verifies an answer of chain_getChanges.
 *
 * @param request - your own, not the answer's
 * @throws ProofError
 */
export function verifyChanges(
  suite: HashSuite,
  {from, to}: ComparedRoots,
  {tree, cursor, count}: ChangesRequest,
  bytes: Uint8Array,
): ChangeRange {
  const reader = new ByteReader(bytes);
  const [fromBlock, toBlock] = openAnswer(reader);
  requireRoot("fromBlock", fromBlock, from);
  requireRoot("toBlock", toBlock, to);
  const isStorage = tree !== ACCOUNTS && tree !== ALL;
  const [before, after] = isStorage
    ? [readAccount(suite, reader, from, tree), readAccount(suite, reader, to, tree)]
    : [];
  const changes = new ChangesReader(suite, reader, splitCursor(cursor), count, tree === ALL);
  if (isStorage) changes.readStorage(tree.toLowerCase(), before, after);
  else changes.readAccounts(from, to);
  const {accounts, storages, end} = changes;
  return {
    ...{fromBlock, toBlock, accounts, storages},
    account: isStorage ? {...(before && {before}), ...(after && {after})} : undefined,
    end: changes.finish() ? undefined : joinCursor(end),
  };
}

function requireRoot(name: string, {stateRoot}: AnsweredBlock, root: Uint8Array): void {
  const trusted = encodeHex(root);
  check(stateRoot === trusted, `${name}.stateRoot`, `expected ${trusted}, got ${stateRoot}`);
}

function readAccount(
  suite: HashSuite,
  reader: ByteReader,
  stateRoot: Uint8Array,
  address: string,
): ProvenAccount | undefined {
  const proof = reader.take(reader.u16());
  return verifyMultiProof(suite, stateRoot, [{address, storageKeys: []}], proof)[0]?.account;
}

/** Reads the changes of the trees of one answer. */
class ChangesReader {
  readonly accounts: LeafChange<AccountLeaf>[] = [];
  readonly storages: StorageChanges[] = [];
  readonly end: ChangeCursor;
  private readonly bits: FlagBits;
  private readonly newTree: string;
  private leafCount = 0;
  private isEndMet = false;

  constructor(
    private readonly suite: HashSuite,
    private readonly reader: ByteReader,
    private readonly from: ChangeCursor,
    private readonly count: number,
    private readonly hasStorage: boolean,
  ) {
    const begin = readCursor(reader);
    this.end = readCursor(reader);
    check(isSameCursor(begin, from), "from", () => `expected ${shown(from)}, got ${shown(begin)}`);
    check(isBefore(from, this.end), "end", () => `expected more than ${shown(from)}, got ${shown(this.end)}`);
    this.bits = new FlagBits(reader);
    this.newTree = encodeHex(newTreeRoot(suite));
  }

  readAccounts(from: Uint8Array, to: Uint8Array): void {
    const opened = {
      from: this.from.account,
      last: this.end.account,
      isLastClosed: this.end.slot === 0,
    };
    const fold = new ChangesFold(this.suite, this.reader, this.bits, "accounts", opened, change =>
      this.takeAccount(change),
    );
    const [before, after] = fold.fold();
    check(isEqual(before, from), "accountTree of fromBlock", "does not fold to the trusted root");
    check(isEqual(after, to), "accountTree of toBlock", "does not fold to the trusted root");
    if (fold.isLastMet) this.isEndMet = true;
  }

  /** What belonged to the account at one leaf index, and what belongs to it at the same or another one. */
  readStorage(address: string, before: ProvenAccount | undefined, after: ProvenAccount | undefined): void {
    const {newTree} = this;
    const [old, young] = [before?.storageRoot ?? newTree, after?.storageRoot ?? newTree];
    if (before !== undefined && before.leafIndex === after?.leafIndex)
      this.readTree(before.leafIndex, address, old, young);
    else {
      const oldIndex = before?.leafIndex ?? LAST.account;
      const youngIndex = after?.leafIndex ?? LAST.account;
      if (oldIndex < youngIndex) this.readTree(oldIndex, address, old, newTree);
      this.readTree(youngIndex, address, newTree, young);
      if (oldIndex > youngIndex) this.readTree(oldIndex, address, old, newTree);
    }
  }

  /** @returns whether nothing is left to ask for. @throws ProofError */
  finish(): boolean {
    this.bits.end();
    this.reader.end();
    const isLast = isSameCursor(this.end, LAST);
    check(isLast || this.isEndMet, "end", () => `no leaf differs at ${shown(this.end)}`);
    return isLast;
  }

  private takeAccount(change: LeafChange<AccountLeaf>): void {
    const {leafIndex, before, after} = change;
    // An answer that begins within the storage of an account has its leaf again.
    const wasShown = leafIndex === this.from.account && this.from.slot > 0;
    if (!wasShown) {
      this.accounts.push(change);
      this.countLeaf();
    }
    if (!this.hasStorage) return;
    const known = [before, after].find(leaf => leaf?.role === "account") as AccountLeaf | undefined;
    this.readTree(leafIndex, known?.address, this.storageOf(before), this.storageOf(after));
  }

  private storageOf(leaf: AccountLeaf | EndLeaf | undefined): string {
    return leaf?.role === "account" ? leaf.account.storageRoot : this.newTree;
  }

  /** Reads the changes of one account's storage, if there are any in the answer. @param before - the storageRoot, as `after` */
  private readTree(account: number, address: string | undefined, before: string, after: string): void {
    const {from, end} = this;
    if (before === after || account < from.account || account > end.account) return;
    const slots: LeafChange<SlotLeaf>[] = [];
    const opened = {
      from: account === from.account ? from.slot : 0,
      last: account === end.account ? end.slot : LAST.slot,
      isLastClosed: account === end.account,
    };
    const fold = new ChangesFold(this.suite, this.reader, this.bits, "slots", opened, change => {
      slots.push(change);
      // The head is taken whatever is left, so that an account is never without its storage.
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

function shown({account, slot}: ChangeCursor): string {
  return `account ${account}, slot ${slot}`;
}
