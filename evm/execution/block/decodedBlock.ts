/**
 * Decodes blocks from berlin on. Byte strings are views of the block's bytes.
 *
 *   block      = [header, transactions, uncles, (withdrawals)]          withdrawals from shanghai on, uncles before the merge
 *   withdrawal = [index, validatorIndex, address, amount in gwei]
 */
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {RlpError, RlpReader, readAll, readBigEndian} from "../../../storage/rlp/rlpReader.ts";
import {encodeList} from "../../../storage/rlp/rlpWriter.ts";
import {recoverSigner} from "../../interpreter/ecrecover.ts";
import {checkBlockBody} from "../blockBody.ts";
import type {BlockHead} from "../blockHead.ts";
import type {ForkRules} from "../rules/forkRules.ts";
import {readTransaction, type Transaction} from "./blockTransaction.ts";

export interface DecodedBlock {
  readonly header: Header;
  readonly transactions: readonly Transaction[];
  readonly uncles: readonly Uncle[];
  readonly withdrawals: readonly Readonly<ReturnType<typeof readWithdrawal>>[];
}

/** The header fields that execution uses, or that its results are compared with. Hashes have 32 bytes. */
export interface Header
  extends Pick<
    BlockHead,
    "parentHash" | "stateRoot" | "gasLimit" | "gasUsed" | "timestamp" | "blobGasUsed" | "excessBlobGas"
  > {
  readonly number: bigint;
  /** Gets the fees, 20 bytes. In a clique chain, the signer. */
  readonly coinbase: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  /** 256 bytes. */
  readonly logsBloom: Uint8Array;
  /** prevRandao; the difficulty before the merge. */
  readonly random: bigint;
  /** 0 before london. */
  readonly baseFee: bigint;
  /** Defined from cancun on. */
  readonly parentBeaconBlockRoot: Uint8Array | undefined;
  /** Defined from prague on. */
  readonly requestsHash: Uint8Array | undefined;
}

/** A stale block that this block references, whose miner gets a reward. */
export type Uncle = Readonly<ReturnType<typeof readUncle>>;

const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
const BLOOM_BYTES = 256;
const NONCE_BYTES = 8;
const COUNT_BYTES = 8;
const MAX_EXTRA_BYTES = 32;
const SEAL_BYTES = 65;
/** Field positions in headers. */
const UNCLE_COINBASE = 2;
const UNCLE_NUMBER = 8;
const EXTRA_DATA = 12;
const MAX_GAS_LIMIT = 2n ** 63n - 1n;
/** EIP-7934: 10 MiB minus 2 MiB reserved for the consensus layer. */
const MAX_BLOCK_BYTES = 8 << 20;
/** keccak256 of an empty list. */
export const NO_UNCLES = keccak256(Uint8Array.of(0xc0));

/**
 * Decodes a block and checks all that needs no state, with the roots of transactions, uncles and withdrawals.
 *
 * @param isClique - of the chain before the merge
 * @throws RlpError if it does not match its fork; ExecutionError if its body is not that of its header
 */
export function decodeBlock(
  blockRlp: Uint8Array,
  head: BlockHead,
  rules: ForkRules,
  chainId: bigint,
  isClique: boolean,
): DecodedBlock {
  if (rules.isOsaka && blockRlp.length > MAX_BLOCK_BYTES)
    throw new RlpError(`expected at most ${MAX_BLOCK_BYTES} bytes, got ${blockRlp.length}`);
  const outer = new RlpReader(blockRlp);
  const parts = outer.readList();
  outer.close();
  const fields = parts.readList();
  const isSealed = isClique && !rules.isMerged;
  const header = readHeader(head, rules, isSealed);
  const transactions = readList(parts.readList(), chainId);
  const uncles = readAll(parts.readList(), readUncle);
  if (uncles.length > 0 && rules.isMerged)
    throw new RlpError("it has uncles, which are not allowed after the merge");
  if (uncles.length > 0 && isClique) throw new RlpError("it has uncles, which are not allowed in clique");
  const withdrawals = rules.isShanghai ? readAll(parts.readList(), readWithdrawal) : [];
  parts.close();
  checkBlockBody(blockRlp);
  const coinbase = isSealed ? readCliqueSigner(fields) : header.coinbase;
  return {header: {...header, coinbase}, transactions, uncles, withdrawals};
}

/** Decodes only the transactions. Nothing is compared with the header. @throws RlpError */
export function readTransactions(blockRlp: Uint8Array, chainId: bigint): Transaction[] {
  const parts = new RlpReader(blockRlp).readList();
  parts.readList();
  return readList(parts.readList(), chainId);
}

function readList(list: RlpReader, chainId: bigint): Transaction[] {
  const transactions: Transaction[] = [];
  try {
    while (!list.isDone) transactions.push(readTransaction(list, chainId));
  } catch (error) {
    if (error instanceof RlpError) error.message = `transaction ${transactions.length}: ${error.message}`;
    throw error;
  }
  return transactions;
}

/** Also checks what the fork requires of the header. */
function readHeader(head: BlockHead, rules: ForkRules, isSealed: boolean): Header {
  const {hasBaseFee, isMerged, isShanghai, hasBlobs, isPrague} = rules;
  const {number, miner, mixHash, difficulty, gasUsed, gasLimit, extraData, baseFeePerGas} = head;
  const others = new RlpReader(head.rest);
  const hash = (): Uint8Array => others.readBytes(HASH_BYTES);
  // The roots of the body.
  hash();
  hash();
  const receiptsRoot = hash();
  const logsBloom = others.readBytes(BLOOM_BYTES);
  const nonce = others.readBytes(NONCE_BYTES);
  if (isShanghai) hash();
  const parentBeaconBlockRoot = hasBlobs ? hash() : undefined;
  const requestsHash = isPrague ? hash() : undefined;
  others.close();
  if ((baseFeePerGas !== undefined) !== hasBaseFee || (head.excessBlobGas !== undefined) !== hasBlobs)
    throw new RlpError(`expected a header ${hasBaseFee ? "with" : "without"} base fee, got another one`);
  if (isMerged && nonce.some(byte => byte !== 0))
    throw new RlpError(`nonce: expected 0 since the merge, got ${toHex(nonce)}`);
  if (gasUsed > gasLimit || gasLimit > MAX_GAS_LIMIT)
    throw new RlpError(`gas used is ${gasUsed}, its gas limit is ${gasLimit}, at most ${MAX_GAS_LIMIT}`);
  if (extraData.length > MAX_EXTRA_BYTES && !isSealed)
    throw new RlpError(`expected at most ${MAX_EXTRA_BYTES} bytes of extra data, got ${extraData.length}`);
  const random = isMerged ? readBigEndian(mixHash) : difficulty;
  const own = {number: BigInt(number), coinbase: miner, random, baseFee: baseFeePerGas ?? 0n};
  return {...head, ...own, receiptsRoot, logsBloom, parentBeaconBlockRoot, requestsHash};
}

function readUncle(list: RlpReader) {
  const fields = list.readList();
  for (let at = 0; at < UNCLE_COINBASE; at++) fields.readBytes();
  const coinbase = fields.readBytes(ADDRESS_BYTES);
  for (let at = UNCLE_COINBASE + 1; at < UNCLE_NUMBER; at++) fields.readBytes();
  return {coinbase, number: fields.readNumber(COUNT_BYTES)};
}

function readWithdrawal(list: RlpReader) {
  const fields = list.readList();
  fields.readNumber(COUNT_BYTES);
  fields.readNumber(COUNT_BYTES);
  const withdrawal = {address: fields.readBytes(ADDRESS_BYTES), gwei: fields.readNumber(COUNT_BYTES)};
  fields.close();
  return withdrawal;
}

/**
 * The signer (EIP-225). The extra data ends with r 32 | s 32 | v 1, over the hash of the header without these.
 *
 * @param fields - of a header. @throws RlpError, also for block 0, which nobody has signed
 */
export function readCliqueSigner(fields: RlpReader): Uint8Array {
  const header = readAll(fields, items => items.readBytes());
  const extraData = header[EXTRA_DATA] ?? new Uint8Array(0);
  const sealAt = extraData.length - SEAL_BYTES;
  if (sealAt < 0) throw new RlpError("its extra data is too short for a clique signature");
  header[EXTRA_DATA] = extraData.subarray(0, sealAt);
  const v = extraData.at(-1) as number;
  const signer =
    v > 1 ? undefined : recoverSigner(keccak256(encodeList(header)), extraData.subarray(sealAt, -1), v === 1);
  if (signer === undefined) throw new RlpError("its clique signature is invalid");
  return signer;
}
