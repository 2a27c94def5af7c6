/**
 * The state after the newest block, as the EVM reads it: accounts, slots and codes from the trie. And the next block's changes,
 * as they come back: as differences, and as the new trie.
 */
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {toHex} from "../../storage/hex.ts";
import type {Evm} from "../evm/evm.ts";
import type {SourceAccount, StateSource} from "../evm/stateSource.ts";
import {readWritten} from "../evm/written.ts";
import {differAccount} from "./accountDifference.ts";
import {readBigEndian} from "./block/rlpReader.ts";
import {type ByteKey, sameBytes, toKey} from "./byteKey.ts";
import {ExecutionError} from "./errors.ts";
import {EMPTY_ROOT} from "./listRoot.ts";
import {decodeList, encodeList, encodeNumber} from "./nodeRlp.ts";
import {codeKey, type TrieNodes, TrieOverlay} from "./trieNodes.ts";
import {pathOf} from "./trieShape.ts";
import {type TrieWrite, updateTrie} from "./trieUpdate.ts";

const NO_BYTES = new Uint8Array(0);
/** About 15 MB. */
const MAX_STORAGE_ROOTS = 100_000;

export class ChainState implements StateSource {
  private root: Uint8Array = EMPTY_ROOT;
  private readonly overlay: TrieOverlay;
  /** Of accounts that were read or written lately. */
  private readonly storageRoots = new Map<ByteKey, Uint8Array>();

  constructor(
    private readonly nodes: TrieNodes,
    readonly readBlockHash: (number: number) => Uint8Array,
  ) {
    this.overlay = new TrieOverlay(nodes);
  }

  moveTo(root: Uint8Array): void {
    this.overlay.clear();
    this.storageRoots.clear();
    this.root = root;
  }

  readAccount(address: Uint8Array): SourceAccount | undefined {
    const encoded = this.overlay.find(this.root, pathOf(address));
    if (encoded === undefined) return undefined;
    const [nonce, balance, storageRoot, codeHash] = decodeList(encoded) as Uint8Array[] as AccountFields;
    this.keepRoot(toKey(address), storageRoot);
    const hasStorage = !sameBytes(storageRoot, EMPTY_ROOT);
    return {nonce: readBigEndian(nonce), balance: readBigEndian(balance), codeHash, hasStorage};
  }

  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const encoded = this.overlay.find(this.storageRootOf(address), pathOf(slot));
    if (encoded === undefined) return NO_BYTES;
    return encoded.length === 1 ? encoded : encoded.subarray(1);
  }

  readCode(codeHash: Uint8Array): Uint8Array {
    const code = this.nodes.get(codeKey(codeHash));
    if (code === undefined)
      throw new ExecutionError("STATE_MISSING", `code ${toHex(codeHash)} is not in this store`);
    return code;
  }

  /**
   * Takes what a block has written.
   *
   * @param check - called with the new root, before anything is put
   */
  apply(evm: Evm, check: (root: Uint8Array) => void): AccountDifferences {
    const differences = new AccountDifferences();
    const writes: TrieWrite[] = [];
    const roots: (readonly [ByteKey, Uint8Array])[] = [];
    const codes = new Map<string, Uint8Array>();
    this.overlay.clear();
    for (const {address, before, after, isReset, slots} of readWritten(evm)) {
      const changed = slots.flatMap(({slot, before: valueBefore, after: value}) => {
        const trimmed = trim(value);
        const isSame =
          isReset || before === undefined ? trimmed.length === 0 : sameBytes(trim(valueBefore), trimmed);
        return isSame ? [] : [[slot, trimmed] as const];
      });
      const readCode = (): Uint8Array => evm.readCode(address);
      const difference = differAccount(address, {before, after, isReset, slots: changed, readCode});
      if (difference === undefined) continue;
      differences.add(difference);
      if (after === undefined) {
        writes.push({path: pathOf(address), value: undefined});
        roots.push([toKey(address), EMPTY_ROOT]);
        continue;
      }
      const code = difference.change?.code;
      if (code !== undefined && code.length > 0) codes.set(codeKey(after.codeHash), code);
      const from = isReset || before === undefined ? EMPTY_ROOT : this.storageRootOf(address);
      const storageRoot = updateTrie(this.overlay, from, changed.map(toWrite));
      roots.push([toKey(address), storageRoot]);
      const fields = [encodeNumber(after.nonce), encodeNumber(after.balance), storageRoot, after.codeHash];
      writes.push({path: pathOf(address), value: encodeList(fields)});
    }
    const root = updateTrie(this.overlay, this.root, writes);
    check(root);
    for (const [key, code] of codes) this.nodes.put(key, code);
    this.overlay.persist();
    for (const [key, storageRoot] of roots) this.keepRoot(key, storageRoot);
    this.root = root;
    return differences;
  }

  private storageRootOf(address: Uint8Array): Uint8Array {
    const known = this.storageRoots.get(toKey(address));
    if (known !== undefined) return known;
    this.readAccount(address);
    return this.storageRoots.get(toKey(address)) ?? EMPTY_ROOT;
  }

  private keepRoot(key: ByteKey, storageRoot: Uint8Array): void {
    if (this.storageRoots.size >= MAX_STORAGE_ROOTS) this.storageRoots.clear();
    this.storageRoots.set(key, storageRoot);
  }
}

type AccountFields = [nonce: Uint8Array, balance: Uint8Array, storageRoot: Uint8Array, codeHash: Uint8Array];

function toWrite([slot, value]: readonly [Uint8Array, Uint8Array]): TrieWrite {
  if (value.length === 0) return {path: pathOf(slot), value: undefined};
  // encodeList writes a list's head too.
  return {path: pathOf(slot), value: encodeList([value]).subarray(1)};
}

function trim(word: Uint8Array): Uint8Array {
  let zeros = 0;
  while (zeros < word.length && word[zeros] === 0) zeros++;
  return word.subarray(zeros);
}
