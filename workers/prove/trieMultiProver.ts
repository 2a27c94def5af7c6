/**
 * Makes the bytes of a multiproof of Ethereum's state trie (docs/proofs.md, section 17): the nodes on the way to each key, every node of
 * a trie once.
 *
 *   0x05 | for each account, by the hash of its address: the nodes that no account before it has
 *          | for each slot asked for, by its hash: the nodes of its storage trie that no slot before it has
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import type {TrieKind, TrieReader} from "../../storage/trie/trie.ts";
import {readTrieAccount} from "../../storage/trie/trieAccount.ts";
import {MAX_PATH_BYTES, TriePath} from "../../storage/trie/triePath.ts";
import {ADDRESS_AT, ADDRESS_BYTES, KEYS_AT, listEntries, readKeyCount} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import type {Breaks} from "./breaks.ts";
import type {TrieRoots} from "./ethProver.ts";

const FIRST_BYTE = 0x05;

export class TrieMultiProver {
  private readonly accounts: NewNodes;
  private readonly slots: NewNodes;

  /** @param breaks - before each account and slot */
  constructor(
    {tries}: StateReader,
    private readonly roots: TrieRoots,
    private readonly breaks: Breaks,
  ) {
    this.accounts = new NewNodes(tries, "accounts");
    this.slots = new NewNodes(tries, "slots");
  }

  /**
   * Appends a multiproof.
   *
   * @param call - one packed call, with at least one entry
   * @throws UnavailableError if the store does not hold the block's trie; StoreError
   */
  write(text: AnswerText, block: number, call: Buffer): void {
    const root = this.roots.at(block);
    text.reserve(1);
    text.byte(FIRST_BYTE);
    this.accounts.begin(root);
    for (const [path, slots] of this.hashKeys(call)) {
      this.breaks.check();
      const value = this.accounts.write(text, path);
      if (value === undefined || slots.length === 0) continue;
      this.slots.begin(readTrieAccount(value).storage.page);
      for (const slot of slots.sort(Buffer.compare)) {
        this.breaks.check();
        this.slots.write(text, slot);
      }
    }
  }

  /** @returns the accounts by the hash of their address, with the hashes of the slots of all entries that name them */
  private hashKeys(call: Buffer): readonly (readonly [Uint8Array, Uint8Array[]])[] {
    const slotsOf = new Map<string, [Uint8Array, Uint8Array[]]>();
    for (const entry of listEntries(call)) {
      this.breaks.check();
      const end = entry + KEYS_AT + readKeyCount(call, entry) * WORD_BYTES;
      const address = call.subarray(entry + ADDRESS_AT, entry + ADDRESS_AT + ADDRESS_BYTES);
      const name = address.toString("latin1");
      const [path, slots] = slotsOf.get(name) ?? [keccak256(address), []];
      for (let at = entry + KEYS_AT; at < end; at += WORD_BYTES)
        slots.push(keccak256(call.subarray(at, at + WORD_BYTES)));
      slotsOf.set(name, [path, slots]);
    }
    return [...slotsOf.values()].sort(([a], [b]) => Buffer.compare(a, b));
  }
}

/** The nodes of one trie, path by path in ascending order. */
class NewNodes {
  private page = 0;
  private path: TriePath;
  private before: TriePath;

  constructor(
    tries: TrieReader,
    private readonly kind: TrieKind,
  ) {
    this.path = new TriePath(tries, new Uint8Array(MAX_PATH_BYTES));
    this.before = new TriePath(tries, new Uint8Array(MAX_PATH_BYTES));
  }

  /** @param page - of the trie's root; 0: it is empty */
  begin(page: number): void {
    this.page = page;
    this.path.count = 0;
  }

  /** Appends the nodes of a path that the path before it does not have. @returns as TriePath.open */
  write(text: AnswerText, key: Uint8Array): Uint8Array | undefined {
    [this.path, this.before] = [this.before, this.path];
    const {path, before} = this;
    const value = path.open(this.page, key, this.kind);
    const end = path.endOf(path.count);
    const start = path.endOf(path.countShared(before));
    text.reserve(end - start);
    text.raw(path.bytes.subarray(start, end));
    return value;
  }
}
