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
import {readTrieAccount} from "../../storage/trie/trieAccount.ts";
import {MAX_PATH_BYTES, TriePath} from "../../storage/trie/triePath.ts";
import {ADDRESS_AT, ADDRESS_BYTES, KEYS_AT, listEntries, readKeyCount} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import type {TrieRoots} from "./ethProver.ts";
import type {YieldPoint} from "./yieldPoint.ts";

const FIRST_BYTE = 0x05;

export class TrieMultiProver {
  private readonly nodes = Buffer.allocUnsafeSlow(MAX_PATH_BYTES);
  private readonly path: TriePath;

  /** @param yieldPoint - checked before each account and slot */
  constructor(
    {tries}: StateReader,
    private readonly roots: TrieRoots,
    private readonly yieldPoint: YieldPoint,
  ) {
    this.path = new TriePath(tries, this.nodes);
  }

  /** @param call - packed, with at least one entry. @throws UnavailableError without the block's trie; StoreError */
  write(text: AnswerText, block: number, call: Buffer): void {
    const {yieldPoint, path} = this;
    const root = this.roots.at(block);
    text.reserve(1);
    text.byte(FIRST_BYTE);
    const known = new Set<string>();
    for (const [account, slots] of hashKeys(call, yieldPoint)) {
      yieldPoint.check();
      const value = path.open(root, account, "accounts");
      const page = value && slots.length > 0 ? readTrieAccount(value).storage.page : 0;
      this.writeNodes(text, known);
      const knownSlots = new Set<string>();
      for (const slot of page === 0 ? [] : slots.sort(Buffer.compare)) {
        yieldPoint.check();
        path.open(page, slot, "slots");
        this.writeNodes(text, knownSlots);
      }
    }
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

/** @returns the accounts by the hash of their address, with the hashes of the slots of all entries that name them */
function hashKeys(call: Buffer, yieldPoint: YieldPoint): readonly (readonly [Uint8Array, Uint8Array[]])[] {
  const accounts = new Map<string, [Uint8Array, Uint8Array[]]>();
  for (const entry of listEntries(call)) {
    yieldPoint.check();
    const end = entry + KEYS_AT + readKeyCount(call, entry) * WORD_BYTES;
    const address = call.subarray(entry + ADDRESS_AT, entry + ADDRESS_AT + ADDRESS_BYTES);
    const name = address.toString("latin1");
    const [path, slots] = accounts.get(name) ?? [keccak256(address), []];
    for (let at = entry + KEYS_AT; at < end; at += WORD_BYTES)
      slots.push(keccak256(call.subarray(at, at + WORD_BYTES)));
    accounts.set(name, [path, slots]);
  }
  return [...accounts.values()].sort(([a], [b]) => Buffer.compare(a, b));
}
