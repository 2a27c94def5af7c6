/** Trie logs of block differences, as Besu's Shomei plugin writes them, by maps that share no code with the store. */
import {RLP} from "@ethereumjs/rlp";
import {KECCAK256_RLP, unpadBytes} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";
import type {AccountDifference} from "../../../storage/block/accountDifference.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {toHex} from "../../../storage/hex.ts";
import {type MemoryAccount, MemoryState} from "./memoryState.ts";

/** An item of RLP; bigints are numbers without leading zeros. */
export type RlpItem = Uint8Array | bigint | readonly RlpItem[];

const NULL = new Uint8Array(0);

export class TrieLogWriter {
  private readonly state = new MemoryState();

  write(block: BlockDifference): Uint8Array {
    const {header, accounts} = block;
    const differences = Array.from({length: accounts.count}, (_, i) => accounts.at(i));
    const before = differences.map(({address}) => copyAccount(this.state.accounts.get(toHex(address))));
    this.state.apply(block);
    const entries: RlpItem[] = [];
    for (const [i, difference] of differences.entries())
      entries.push(entryOf(difference, before[i], this.state.accounts.get(toHex(difference.address))));
    for (const address of this.untouched(differences)) entries.push(this.readOf(address));
    return encodeTrieLog([header.hash, BigInt(header.number), ...entries]);
  }

  /** Besu logs what a block only read. Here each block reads an account that it does not change, and one that is not there. */
  private untouched(differences: readonly AccountDifference[]): string[] {
    const touched = new Set(differences.map(({address}) => toHex(address)));
    const read = [...this.state.accounts.keys()].find(name => !touched.has(name));
    const absent = `0x${"a5".repeat(20)}`;
    return [...(read === undefined ? [] : [read]), ...(touched.has(absent) ? [] : [absent])];
  }

  private readOf(name: string): RlpItem {
    const account = this.state.accounts.get(name);
    const value = account === undefined ? NULL : encodeValue(account);
    const slot = [...(account?.slots.keys() ?? [])][0];
    const held = slot === undefined ? NULL : scalar(account?.slots.get(slot));
    const reads = slot === undefined ? [] : [[hashOf(slot), held, held, NULL, scalar(slot)]];
    const absent = toHex(keccak_256(fromHex(name)));
    const zeroRead = [hashOf(absent), NULL, NULL, NULL, scalar(absent)];
    return [fromHex(name), NULL, [value, value, NULL], [...reads, zeroRead]];
  }
}

export function encodeTrieLog(items: RlpItem): Uint8Array {
  return RLP.encode(items as Parameters<typeof RLP.encode>[0]);
}

function entryOf(
  {address, change}: AccountDifference,
  before: MemoryAccount | undefined,
  after: MemoryAccount | undefined,
): RlpItem {
  const cleared = change === undefined || change.reset === true;
  const slots: RlpItem[] = [];
  for (const {slot} of change?.storage ?? []) {
    const key = toHex(slot);
    const old = cleared ? NULL : scalar(before?.slots.get(key));
    slots.push([hashOf(key), old, scalar(after?.slots.get(key)), NULL, scalar(key)]);
  }
  // Besu finds the other slots of a deleted account in the trie, where keys are hashed.
  if (after === undefined)
    for (const [key, value] of before?.slots ?? []) slots.push([hashOf(key), scalar(value), NULL, 1n]);
  const oldCode = before?.code ?? NULL;
  const newCode = after?.code ?? NULL;
  const code = Buffer.compare(oldCode, newCode) === 0 ? NULL : [oldCode, newCode, cleared ? 1n : NULL];
  const value = [
    before === undefined ? NULL : encodeValue(before),
    after === undefined ? NULL : encodeValue(after),
    cleared ? 1n : NULL,
  ];
  return [address, code, value, slots.length === 0 ? NULL : slots];
}

/**
 * In place of the root of the storage's Merkle-Patricia trie stands another hash that changes with the storage: proofd compares old and
 * new roots only, and tries would take most of a test's time.
 */
function encodeValue({nonce, balance, code, slots}: MemoryAccount): RlpItem {
  const entries = [...slots].map(entry => entry.join()).sort();
  const root = slots.size === 0 ? KECCAK256_RLP : keccak_256(Buffer.from(entries.join()));
  return [nonce, balance, root, keccak_256(code)];
}

function copyAccount(account: MemoryAccount | undefined): MemoryAccount | undefined {
  return account === undefined ? undefined : {...account, slots: new Map(account.slots)};
}

function hashOf(slot: string): Uint8Array {
  return keccak_256(fromHex(slot));
}

/** @param word - 0x and 64 digits; undefined: zero */
function scalar(word: string | undefined): Uint8Array {
  return word === undefined ? NULL : unpadBytes(fromHex(word));
}

function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), "hex"));
}
