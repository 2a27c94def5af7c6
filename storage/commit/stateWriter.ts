/**
 * Applies a block's changes to the trees. Leaf indexes depend on the order: accounts by ascending hKey, and for each
 * account first its slots by ascending hKey, then its own leaf (docs/proofs.md, section 4).
 */
import type {AccountDifference} from "../block/accountDifference.ts";
import type {BlockDifference} from "../block/blockDifference.ts";
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import {compareWordAt, inHKeyOrder} from "../hash/hKeyOrder.ts";
import {keccak256} from "../hash/keccak.ts";
import {PairBatch} from "../hash/pairBatch.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {bigEndian} from "../record/recordBody.ts";
import {
  type AccountCode,
  decodeStoredAccount,
  encodeAccountValueInto,
  encodeStoredAccount,
  NEW_ACCOUNT,
} from "../tree/account.ts";
import {ACCOUNTS_OWNER} from "../tree/leafKeys.ts";
import {stripZeros} from "../tree/shortNumber.ts";
import {newTreeRoot, type TreeRoot} from "../tree/treeRoot.ts";
import {checkAccountBefore} from "./beforeCheck.ts";
import {LeafKeyWriter} from "./leafKeyWriter.ts";
import {SlotWriter} from "./slotWriter.ts";
import type {TreeContext} from "./treeSeal.ts";
import {TreeWriter} from "./treeWriter.ts";
import type {WriteBatch} from "./writeBatch.ts";

/** An account that the block removed and created again, as its source says, or as its lower nonce shows. */
export interface AccountReset {
  readonly address: Uint8Array;
  /** Before the block. */
  readonly hasCode: boolean;
  readonly hasNonce: boolean;
  /** false: only the lower nonce shows the reset. */
  readonly isSaid: boolean;
}

export class StateWriter {
  private readonly context: TreeContext;
  private readonly value = new Uint8Array(ACCOUNT_VALUE_BYTES);
  private readonly slotWriter: SlotWriter;
  accounts = 0;
  resets: AccountReset[] = [];

  constructor(
    private readonly reader: StateReader,
    private readonly batch: WriteBatch,
  ) {
    const {suite, empty} = reader;
    this.context = {suite, empty, pages: batch, pairs: new PairBatch(suite)};
    this.slotWriter = new SlotWriter(this.context, reader, batch);
  }

  /**
   * Flushes the batch whenever it is full, before the block's record. @returns the account tree, sealed
   *
   * @param before - that tree after the previous block; undefined for block 0
   * @throws StoreError BLOCK_INVALID, BEFORE_MISMATCH, TREE_FULL, WRITE_FAILED, and those of reading
   */
  async applyAccounts(
    before: TreeRoot | undefined,
    {header, accounts}: BlockDifference,
  ): Promise<TreeWriter> {
    const {suite, empty} = this.context;
    this.resets = [];
    const tree = new TreeWriter(this.context, before ?? newTreeRoot(empty));
    const keys = new LeafKeyWriter(this.reader, this.batch, ACCOUNTS_OWNER);
    let last: Buffer | undefined;
    const hKeyAt = (position: number): Uint8Array => suite.hashAddress(accounts.addressAt(position));
    for (const {position, hKey} of inHKeyOrder(accounts.count, hKeyAt)) {
      const difference = accounts.at(position);
      const {address} = difference;
      const where = (): string => `block ${header.number}: account ${toHex(address)}`;
      if (last !== undefined && compareWordAt(last, 0, hKey) === 0)
        throw new StoreError("BLOCK_INVALID", `${where()} twice`);
      last = hKey;
      await this.applyAccount(tree, keys, hKey, difference, where);
      if (tree.needsSeal) tree.seal();
      if (this.batch.isFull) await this.batch.flush();
    }
    keys.finish();
    tree.seal();
    return tree;
  }

  private async applyAccount(
    tree: TreeWriter,
    keys: LeafKeyWriter,
    hKey: Uint8Array,
    {address, change, before, onlyRead}: AccountDifference,
    where: () => string,
  ): Promise<void> {
    const {suite, empty} = this.context;
    let position = tree.find(hKey);
    let leaf = position.present ? tree.leaf(position.leafIndex) : undefined;
    const current = leaf === undefined ? undefined : decodeStoredAccount(leaf.value);
    if (before !== undefined) checkAccountBefore(before, current, where);
    if (onlyRead === true) {
      this.slotWriter.check(current?.storage, change?.storage ?? [], where);
      return;
    }
    if (position.present && (change === undefined || change.reset === true)) {
      tree.delete(position.leafIndex);
      if (change === undefined) this.accounts++;
      position = tree.find(hKey);
      leaf = undefined;
    }
    if (change === undefined) return;
    const old = leaf === undefined || current === undefined ? NEW_ACCOUNT : current;
    const owner = position.present ? position.leafIndex : tree.nextLeafIndex;
    const {storage: slots = []} = change;
    const keptCode = change.keepsCode === true ? current?.code : old.code;
    const account = {
      nonce: change.nonce === undefined ? old.nonce : stripZeros(bigEndian(change.nonce, 8)),
      balance: change.balance === undefined ? old.balance : stripZeros(bigEndian(change.balance, WORD_BYTES)),
      code: change.code === undefined ? keptCode : this.putCode(change.code),
      storage:
        slots.length === 0 ? old.storage : await this.slotWriter.apply(owner, old.storage, slots, where),
    };
    if (current !== undefined) {
      const isSaid = change.reset === true;
      if (isSaid || isBelow(account.nonce, current.nonce))
        this.resets.push({
          address,
          hasCode: current.code !== undefined,
          hasNonce: current.nonce.length > 0,
          isSaid,
        });
    }
    encodeAccountValueInto(this.value, 0, account, empty);
    const hVal = suite.hashAccountValue(this.value);
    if (!position.present) keys.add(tree.insert(position, hKey, hVal, encodeStoredAccount(account)), address);
    else if (Buffer.compare(hVal, (leaf as {hVal: Uint8Array}).hVal) !== 0)
      tree.update(position.leafIndex, hVal, encodeStoredAccount(account));
    else return;
    this.accounts++;
  }

  private putCode(code: Uint8Array): AccountCode | undefined {
    if (code.length === 0) return undefined;
    const keccakCodeHash = keccak256(code);
    this.batch.putCode(keccakCodeHash, code);
    return {codeHash: this.context.suite.hashCode(code), keccakCodeHash, codeSize: code.length};
  }
}

/** @param a, b - numbers without leading zeros */
function isBelow(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length ? Buffer.compare(a, b) < 0 : a.length < b.length;
}
