/**
 * The store that is measured: random accounts in block 0, then blocks of 350 leaf writes, all history kept.
 *
 * A block has 50 new accounts (three leaf writes each: the leaf and its two neighbours) and 200 changed ones.
 * It is made once under data/ and kept between runs.
 */
import {createHash} from "node:crypto";
import {existsSync, renameSync, rmSync} from "node:fs";
import {numberedAddress} from "../load/numberedAddress.ts";
import {AccountDifferences} from "../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../storage/block/blockDifference.ts";
import {BlockWriter} from "../storage/block/blockWriter.ts";
import {StateStore} from "../storage/stateStore.ts";
import {addContracts, BENCH_CHAIN} from "./benchContracts.ts";

export const BLOCKS = 300;
const NEW_ACCOUNTS = 50;
const CHANGED_ACCOUNTS = 200;
export const LEAF_WRITES_PER_BLOCK = 3 * NEW_ACCOUNTS + CHANGED_ACCOUNTS;

/** What committing the blocks after block 0 cost; undefined for a store that was made by an earlier run. */
export interface CommitFigures {
  readonly bulkSeconds: number;
  readonly blockMs: number;
  readonly bytesPerLeafWrite: number;
}

export interface BenchStore {
  readonly store: StateStore;
  readonly commits: CommitFigures | undefined;
}

/** 20 bytes; accounts 0 .. N-1 are in block 0. */
export function addressAt(i: number): Buffer {
  return Buffer.from(numberedAddress(i), "hex");
}

export async function openBenchStore(accounts: number, cacheBytes: number): Promise<BenchStore> {
  const directory = `data/bench-${accounts}`;
  let commits: CommitFigures | undefined;
  if (!existsSync(directory)) {
    const unfinished = `${directory}.unfinished`;
    rmSync(unfinished, {recursive: true, force: true});
    commits = await makeStore(unfinished, accounts, cacheBytes);
    renameSync(unfinished, directory);
  }
  return {store: await StateStore.open({directory, role: "owner", cacheBytes}), commits};
}

async function makeStore(directory: string, accounts: number, cacheBytes: number): Promise<CommitFigures> {
  const store = await StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes});
  const writer = await BlockWriter.create(store);
  const allocation = new AccountDifferences();
  for (let i = 0; i < accounts; i++)
    allocation.add({address: addressAt(i), change: {balance: 10n ** 15n + BigInt(i)}});
  addContracts(allocation, addressAt);
  const startMs = performance.now();
  await writer.apply({header: headerOf(0), accounts: allocation, chain: BENCH_CHAIN});
  await writer.flush();
  const bulkSeconds = (performance.now() - startMs) / 1000;

  const bytesBefore = writer.bytesWritten;
  const blocksMs = performance.now();
  for (let number = 1; number <= BLOCKS; number++) {
    await writer.apply({header: headerOf(number), accounts: changesOf(number, accounts)});
    writer.markFinalized(number);
    await writer.flush();
  }
  const blockMs = (performance.now() - blocksMs) / BLOCKS;
  const bytesPerLeafWrite = (writer.bytesWritten - bytesBefore) / (BLOCKS * LEAF_WRITES_PER_BLOCK);
  await store.close();
  return {bulkSeconds, blockMs, bytesPerLeafWrite};
}

function changesOf(number: number, accounts: number): AccountDifferences {
  const changes = new AccountDifferences();
  for (let i = 0; i < NEW_ACCOUNTS; i++)
    changes.add({address: addressAt(accounts + (number - 1) * NEW_ACCOUNTS + i), change: {balance: 1n}});
  const changed = new Set<number>();
  for (let i = 0; changed.size < CHANGED_ACCOUNTS; i++)
    changed.add(createHash("sha256").update(`change ${number} ${i}`).digest().readUInt32BE() % accounts);
  for (const i of changed) changes.add({address: addressAt(i), change: {nonce: BigInt(number)}});
  return changes;
}

function headerOf(number: number): BlockHeader {
  return {
    number,
    hash: createHash("sha256").update(`block ${number}`).digest(),
    timestamp: BigInt(1_700_000_000 + number),
    gasLimit: 60_000_000n,
  };
}
