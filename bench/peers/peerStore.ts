/**
 * The store of the comparison: the bench store and one more block, which adds slots to the first accounts.
 *
 *   bench-data/..      npm run bench: N accounts, M blocks of history
 *   .../peers-N-M-v6   hard links to its table files, and block M + 1 with SLOTS slots for each of the first 10 000
 *   accounts
 */

import {existsSync, mkdtempSync, renameSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import type {KnownAccount} from "proofd-load";
import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {word} from "../../client/hash/hashSuites.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {makeSnapshot} from "../../storage/storeSnapshot.ts";
import {BENCH_FOLDER} from "../program/runFile.ts";
import type {ServerProcess} from "../program/serverProcess.ts";
import {addressAt} from "../stages/benchChain.ts";
import {
  addContracts,
  BENCH_CHAIN,
  encodeBalanceOf,
  encodeTransfer,
  sha256,
  TOKEN,
} from "../stages/benchContracts.ts";
import {applyWithTrie, CACHE_BYTES, keepBenchStore, openTrie} from "../stages/benchStore.ts";
import {HOLDERS} from "../stages/storeSize.ts";
import {startAnvil} from "./anvil.ts";

/** anvil rebuilds the trie of all its accounts for each proof, so that more would be too slow. */
const MAX_SLOT_ACCOUNTS = 10_000;
const SLOTS = 8;
const TOKEN_TRANSFERS = 4096;
const BALANCE_CALLS = 16_384;
const ANVIL_BLOCK_0 = {difficulty: "0x0", gasLimit: "0x3938700", nonce: "0x0", timestamp: "0x6553f22d"};

/** @returns the folder, which is created if it is missing */
export async function makePeerStore(accounts: number, blocks: number): Promise<string> {
  const directory = join(BENCH_FOLDER, `peers-${accounts}-${blocks}-v6`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, {recursive: true, force: true});
  const signal = new AbortController().signal;
  await makeSnapshot({directory: await keepBenchStore(accounts, blocks), out: unfinished, signal});
  const store = await StateStore.open({directory: unfinished, role: "owner", cacheBytes: CACHE_BYTES});
  const writer = await BlockWriter.create(store);
  const number = ((await store.reader.latest()) as number) + 1;
  const changes = new AccountDifferences();
  for (let i = 0; i < slotAccounts(accounts); i++)
    changes.add({address: addressAt(i), change: {storage: storageOf(i)}});
  const header = {number, hash: sha256(`block ${number}`), timestamp: BigInt(1_700_000_000 + number)};
  await applyWithTrie(writer, openTrie(writer), {
    header: {...header, gasLimit: 60_000_000n},
    accounts: changes,
  });
  writer.markFinalized(number);
  await writer.flush();
  await store.close();
  renameSync(unfinished, directory);
  return directory;
}

export function listSlotAccounts(accounts: number): KnownAccount[] {
  const slots = Array.from({length: SLOTS}, (_, slot) => encodeHex(word(BigInt(slot + 1))));
  return Array.from({length: slotAccounts(accounts)}, (_, i) => ({address: encodeHex(addressAt(i)), slots}));
}

/** `params` of estimates: ERC-20 transfers to accounts without tokens. */
export function listTokenTransfers(): string[] {
  return Array.from({length: TOKEN_TRANSFERS}, (_, i) => {
    const data = encodeHex(encodeTransfer(sha256(`receiver ${i}`).subarray(0, 20), 5n));
    return JSON.stringify([{from: encodeHex(addressAt(i % HOLDERS)), to: encodeHex(TOKEN), data}]);
  });
}

/** `params` of eth_call: balances of token holders. @param blocks - at random ones up to this; undefined: at the newest */
export function listBalanceCalls(blocks: number | undefined): string[] {
  return Array.from({length: BALANCE_CALLS}, (_, i) => {
    const data = encodeHex(encodeBalanceOf(addressAt(i % HOLDERS)));
    const block =
      blocks === undefined ? "latest" : quantity(BigInt(sha256(`call ${i}`).readUInt32BE() % (blocks + 1)));
    return JSON.stringify([{to: encodeHex(TOKEN), data}, block]);
  });
}

/** Starts anvil with the accounts that have slots and with the contracts. More accounts are too many for it. */
export async function startPeerAnvil(accounts: number): Promise<ServerProcess> {
  const alloc = makeAlloc(slotAccounts(accounts));
  const folder = mkdtempSync(join(tmpdir(), "proofd-anvil-"));
  try {
    const genesis = join(folder, "genesis.json");
    const config = JSON.parse(BENCH_CHAIN.config as string) as unknown;
    writeFileSync(genesis, JSON.stringify({config, alloc, ...ANVIL_BLOCK_0}));
    const flags = ["--accounts", "1", "--no-mining", "--hardfork", "osaka"];
    const anvil = await startAnvil("--init", genesis, ...flags);
    // The header of block 0 commits to a state without the accounts that anvil adds, but that of block 1 is right.
    await anvil.call("evm_mine");
    return anvil;
  } finally {
    rmSync(folder, {recursive: true});
  }
}

/** The accounts of block 0, with the contracts, as genesis files of geth and anvil have them. */
export function makeAlloc(accounts: number): Record<string, object> {
  const differences = new AccountDifferences();
  for (let i = 0; i < accounts; i++)
    differences.add({
      address: addressAt(i),
      change: {balance: 10n ** 15n + BigInt(i), storage: i < MAX_SLOT_ACCOUNTS ? storageOf(i) : []},
    });
  addContracts(differences, addressAt);
  const alloc: Record<string, object> = {};
  for (let i = 0; i < differences.count; i++) {
    const {address, change = {}} = differences.at(i);
    const {balance = 0n, nonce = 0n, code = Buffer.alloc(0), storage = []} = change;
    alloc[encodeHex(address)] = {
      balance: `0x${balance.toString(16)}`,
      nonce: `0x${nonce.toString(16)}`,
      code: encodeHex(code),
      storage: Object.fromEntries(storage.map(({slot, value}) => [encodeHex(slot), encodeHex(value)])),
    };
  }
  return alloc;
}

function slotAccounts(accounts: number): number {
  return Math.min(MAX_SLOT_ACCOUNTS, accounts);
}

function storageOf(account: number): {slot: Uint8Array; value: Uint8Array}[] {
  return Array.from({length: SLOTS}, (_, slot) => ({
    slot: word(BigInt(slot + 1)),
    value: sha256(`value ${account} ${slot}`),
  }));
}
