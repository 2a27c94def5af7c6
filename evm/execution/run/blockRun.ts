/**
 * Runs a block, and compares the results with its header, except the state root:
 *
 *   1. system calls: beacon root (EIP-4788, cancun), parent hash (EIP-2935, prague)
 *   2. transactions
 *   3. withdrawals; before the merge, mining rewards unless the consensus is clique
 *   4. system calls: withdrawal requests (EIP-7002), consolidation requests (EIP-7251)
 */
import {toHex} from "../../../storage/hex.ts";
import {listRoot} from "../../../storage/trie/listRoot.ts";
import {recoverAddress} from "../../interpreter/ecrecover.ts";
import type {Evm} from "../../interpreter/evm.ts";
import type {EvmLog, EvmResult} from "../../interpreter/message.ts";
import type {DecodedBlock, Header, Uncle} from "../block/decodedBlock.ts";
import {BlockMismatch} from "../executionError.ts";
import type {ForkSchedule} from "../forkSchedule.ts";
import {BLOB_GAS} from "../rules/fees.ts";
import {bloomOf, encodeReceipt, joinBloom} from "./receipts.ts";
import {hashRequests, readDeposits} from "./requests.ts";
import {runTransaction} from "./transaction.ts";
import type {TransactionBlock} from "./transactionCheck.ts";

const BEACON_ROOTS = Buffer.from("000f3df6d732807ef1319fb7b8bb8522d0beac02", "hex");
const HISTORY = Buffer.from("0000f90827f1c53a10cb7a02335b175320002935", "hex");
const SYSTEM = Buffer.from("fffffffffffffffffffffffffffffffffffffffe", "hex");
const SYSTEM_GAS = 30_000_000n;
const WEI_PER_GWEI = 10n ** 9n;
const NO_BYTES = new Uint8Array(0);
const BLOOM_BYTES = 256;

export interface BlockContext extends TransactionBlock {
  readonly forks: ForkSchedule;
  readonly fork: string;
  /** The sender of the transaction at a position, 20 bytes; undefined if it must be recovered from the signature. */
  readonly senderAt: (position: number) => Uint8Array | undefined;
}

/** @throws BlockMismatch that names the mismatch */
export async function runBlock(
  evm: Evm,
  {header, transactions, uncles, withdrawals}: DecodedBlock,
  context: BlockContext,
): Promise<void> {
  if (header.parentBeaconBlockRoot !== undefined)
    await callBefore(evm, BEACON_ROOTS, header.parentBeaconBlockRoot);
  if (context.rules.isPrague) await callBefore(evm, HISTORY, header.parentHash);
  const logs = await runTransactions(evm, header, transactions, context);
  if (withdrawals.length > 0) {
    evm.beginTransaction();
    for (const {address, gwei} of withdrawals) evm.addBalance(address, gwei * WEI_PER_GWEI);
    evm.endTransaction();
  }
  if (!context.rules.isMerged && !context.forks.isClique) payRewards(evm, header, uncles);
  if (header.requestsHash === undefined) return;
  const {depositContract, systemContracts} = context.forks;
  const requests = [readDeposits(logs, depositContract)];
  for (const {address, eip, type} of systemContracts) requests[type] = await callAfter(evm, address, eip);
  compare("requests hash", header.requestsHash, hashRequests(requests));
}

/** Also compares blob gas, gas used, receipts root and logs bloom. @returns all logs */
async function runTransactions(
  evm: Evm,
  header: Header,
  transactions: DecodedBlock["transactions"],
  context: BlockContext,
): Promise<EvmLog[]> {
  const blobs = transactions.reduce((sum, {blobHashes}) => sum + blobHashes.length, 0);
  checkBlobs(BLOB_GAS * BigInt(blobs), header, context);
  const allLogs: EvmLog[] = [];
  const receipts: Uint8Array[] = [];
  const logsBloom = new Uint8Array(BLOOM_BYTES);
  let used = 0n;
  for (const [position, transaction] of transactions.entries()) {
    const {hash, rs, isOdd} = transaction.signature;
    try {
      const sender = context.senderAt(position) ?? recoverAddress(hash, rs, isOdd);
      const result = await runTransaction(evm, transaction, sender, context, header.gasLimit - used);
      used += result.gasUsed;
      const {logs} = result;
      const bloom = bloomOf(logs);
      joinBloom(logsBloom, bloom);
      receipts.push(encodeReceipt(transaction.type, result.hasSucceeded, used, bloom, logs));
      allLogs.push(...logs);
    } catch (error) {
      if (error instanceof BlockMismatch) error.message = `transaction ${position}: ${error.message}`;
      throw error;
    }
  }
  if (used !== header.gasUsed)
    throw new BlockMismatch(`gas used: expected ${header.gasUsed} as in its header, got ${used}`);
  compare("receipts root", header.receiptsRoot, listRoot(receipts));
  compare("logs bloom", header.logsBloom, logsBloom);
  return allLogs;
}

function checkBlobs(blobGas: bigint, {blobGasUsed}: Header, {forks, fork}: BlockContext): void {
  if (blobGasUsed === undefined) return;
  if (blobGas !== blobGasUsed)
    throw new BlockMismatch(`blob gas used: expected ${blobGasUsed} as in its header, got ${blobGas}`);
  const {max} = forks.blobLimits(fork);
  if (blobGas > max) throw new BlockMismatch(`blob gas used is ${blobGas}, at most ${max} is allowed`);
}

/** Skipped if the contract does not exist. A failing call has no effect. */
async function callBefore(evm: Evm, to: Uint8Array, data: Uint8Array): Promise<void> {
  if (evm.readCode(to).length > 0) await callAsSystem(evm, to, data);
}

async function callAfter(evm: Evm, to: Uint8Array, eip: number): Promise<Uint8Array> {
  const contract = `the system contract ${toHex(to)} (EIP-${eip})`;
  if (evm.readCode(to).length === 0) throw new BlockMismatch(`${contract} has no code`);
  const {end, returned} = await callAsSystem(evm, to, NO_BYTES);
  if (end !== "success") throw new BlockMismatch(`the call of ${contract} fails: ${end}`);
  return returned;
}

async function callAsSystem(evm: Evm, to: Uint8Array, data: Uint8Array): Promise<EvmResult> {
  const prices = {value: 0n, gas: SYSTEM_GAS, gasPrice: 0n, nonce: 0n};
  evm.beginTransaction();
  const result = await evm.run({origin: SYSTEM, caller: SYSTEM, to, data, blobHashes: [], ...prices});
  evm.endTransaction();
  return result;
}

/** @throws BlockMismatch that shows both values */
export function compare(name: string, expected: Uint8Array, got: Uint8Array): void {
  if (Buffer.compare(expected, got) !== 0)
    throw new BlockMismatch(`${name}: expected ${toHex(expected)} as in its header, got ${toHex(got)}`);
}

const REWARD = 2n * 10n ** 18n;
const UNCLE_PARTS = 8n;
const NEPHEW_PARTS = 32n;

/** Ethash rewards (EIP-1234): 2 ether and 1/32 of it per uncle; each uncle's miner gets 7/8 to 2/8 of it, by age. */
function payRewards(evm: Evm, {coinbase, number}: Header, uncles: readonly Uncle[]): void {
  evm.beginTransaction();
  for (const uncle of uncles)
    evm.addBalance(uncle.coinbase, ((uncle.number + UNCLE_PARTS - number) * REWARD) / UNCLE_PARTS);
  evm.addBalance(coinbase, REWARD + (BigInt(uncles.length) * REWARD) / NEPHEW_PARTS);
  evm.endTransaction();
}
