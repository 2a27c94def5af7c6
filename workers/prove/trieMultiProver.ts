/**
 * Makes the bytes of a multiproof of Ethereum's state trie (docs/proofs.md, section 17): the nodes on the way to each
 * key, every node of a trie once.
 *
 *   0x05 | for each account, by the hash of its address: the nodes that no account before it has
 *          | for each slot asked for, by its hash: the nodes of its storage trie that no slot before it has
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {EMPTY_TRIE} from "../../storage/trie/trie.ts";
import {readTrieAccount} from "../../storage/trie/trieAccount.ts";
import {MAX_PATH_BYTES} from "../../storage/trie/triePath.ts";
import {ADDRESS_AT, ADDRESS_BYTES, KEYS_AT, listEntries, readKeyCount} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import type {TrieRoots} from "./ethProver.ts";
import {SlicePath} from "./slicePath.ts";
import type {YieldPoint} from "./yieldPoint.ts";

const FIRST_BYTE = 0x05;

export class TrieMultiProver {
  private readonly nodes = Buffer.allocUnsafeSlow(MAX_PATH_BYTES);
  private readonly path: SlicePath;

  /** @param yieldPoint - checked before each account and slot */
  constructor(
    store: StateReader,
    private readonly roots: TrieRoots,
    private readonly yieldPoint: YieldPoint,
  ) {
    this.path = new SlicePath(store, this.nodes);
  }

  /** @param call - packed, with at least one entry. @throws CallFailure without the block's trie; StoreError */
  write(text: AnswerText, block: number, call: Buffer): void {
    const {yieldPoint, path} = this;
    const root = this.roots.at(block);
    text.reserve(1);
    text.byte(FIRST_BYTE);
    const known = new Set<string>();
    path.begin();
    for (const {address, path: account, slots} of hashKeys(call, yieldPoint)) {
      yieldPoint.check();
      const value = path.openAccount(block, root, address, false, account);
      const storage = value && slots.length > 0 ? readTrieAccount(value).storage : EMPTY_TRIE;
      this.writeNodes(text, known);
      const knownSlots = new Set<string>();
      for (const slot of storage === EMPTY_TRIE ? [] : slots.sort((a, b) => Buffer.compare(a.path, b.path))) {
        yieldPoint.check();
        path.openSlot(storage, address, slot.key, false, slot.path);
        this.writeNodes(text, knownSlots);
      }
    }
    path.end(block);
  }

  /** Appends the nodes of `path` that are not known, and makes them known. */
  private writeNodes(text: AnswerText, known: Set<string>): void {
    const {nodes, path} = this;
    for (let i = 0, start = 0; i < path.count; i++) {
      const end = path.ends[i] as number;
      const node = nodes.subarray(start, end);
      start = end;
      const name = node.toString("latin1");
      if (known.has(name)) continue;
      known.add(name);
      text.reserve(node.length);
      text.raw(node);
    }
  }
}

/** `path`: keccak256 of the address or key. */
interface HashedAccount {
  readonly address: Uint8Array;
  readonly path: Uint8Array;
  readonly slots: {readonly key: Uint8Array; readonly path: Uint8Array}[];
}

/** @returns the accounts in the order of their paths, with the slots of all entries that name them */
function hashKeys(call: Buffer, yieldPoint: YieldPoint): readonly HashedAccount[] {
  const accounts = new Map<string, HashedAccount>();
  for (const entry of listEntries(call)) {
    yieldPoint.check();
    const end = entry + KEYS_AT + readKeyCount(call, entry) * WORD_BYTES;
    const address = call.subarray(entry + ADDRESS_AT, entry + ADDRESS_AT + ADDRESS_BYTES);
    const name = address.toString("latin1");
    const account: HashedAccount = accounts.get(name) ?? {address, path: keccak256(address), slots: []};
    for (let at = entry + KEYS_AT; at < end; at += WORD_BYTES) {
      const key = call.subarray(at, at + WORD_BYTES);
      account.slots.push({key, path: keccak256(key)});
    }
    accounts.set(name, account);
  }
  return [...accounts.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}
