/**
 * The measured chain: random accounts in block 0, then blocks of 350 leaf writes.
 *
 * A block has 50 new accounts (three leaf writes each: the leaf and its two neighbours) and 200 changed ones. In
 * Ethereum's state trie these are 250 leaf writes. The number of accounts determines the chain on all machines.
 */
import {numberedAddress} from "proofd-load";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockDifference, BlockHeader} from "../../storage/block/blockDifference.ts";
import {addContracts, BENCH_CHAIN, sha256} from "./benchContracts.ts";

const NEW_ACCOUNTS = 50;
const CHANGED_ACCOUNTS = 200;
export const LEAF_WRITES_PER_BLOCK = 3 * NEW_ACCOUNTS + CHANGED_ACCOUNTS;
/** Changed accounts of a block that has 350 leaf writes in the state trie. */
export const TRIE_CHANGES = LEAF_WRITES_PER_BLOCK - NEW_ACCOUNTS;

/** Address of account i. Accounts 0 .. N-1 are in block 0. */
export function addressAt(i: number): Buffer {
  return Buffer.from(numberedAddress(i), "hex");
}

export function absentAddressAt(i: number): Buffer {
  return addressAt(i).fill(0xaa, 4, 8);
}

export function makeBlock0(accounts: number): BlockDifference {
  const allocation = new AccountDifferences();
  for (let i = 0; i < accounts; i++)
    allocation.add({address: addressAt(i), change: {balance: 10n ** 15n + BigInt(i)}});
  addContracts(allocation, addressAt);
  return {header: headerOf(0), accounts: allocation, chain: BENCH_CHAIN};
}

/** @param number - at least 1. @param changes - number of existing accounts that the block changes */
export function makeBlock(number: number, accounts: number, changes = CHANGED_ACCOUNTS): BlockDifference {
  const differences = new AccountDifferences();
  for (let i = 0; i < NEW_ACCOUNTS; i++)
    differences.add({address: addressAt(accounts + (number - 1) * NEW_ACCOUNTS + i), change: {balance: 1n}});
  const changed = new Set<number>();
  for (let i = 0; changed.size < changes; i++)
    changed.add(sha256(`change ${number} ${i}`).readUInt32BE() % accounts);
  for (const i of changed) differences.add({address: addressAt(i), change: {nonce: BigInt(number)}});
  return {header: headerOf(number), accounts: differences};
}

function headerOf(number: number): BlockHeader {
  return {
    number,
    hash: sha256(`block ${number}`),
    timestamp: BigInt(1_700_000_000 + number),
    gasLimit: 60_000_000n,
  };
}
