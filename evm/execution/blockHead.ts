/**
 * The header of an RLP block, read without touching its transactions.
 *
 *   block  = [header, transactions, uncles, (withdrawals)]
 *   header = [parentHash, uncleHash, miner, stateRoot, transactionsRoot, receiptsRoot, logsBloom, difficulty, number,
 *             gasLimit, gasUsed, timestamp, extraData, mixHash, nonce,
 *             (baseFee, (withdrawalsRoot, (blobGasUsed, excessBlobGas, parentBeaconBlockRoot, ...)))]
 */
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {RlpReader} from "../../storage/rlp/rlpReader.ts";
import {ExecutionError} from "./executionError.ts";

/** Since London, and since Cancun. */
type LaterField = "baseFeePerGas" | "blobGasUsed" | "excessBlobGas";

/** The header fields that the store keeps, and those that the next block is checked against. */
export interface BlockHead extends Whole<Omit<BlockHeader, LaterField>>, Pick<BlockHeader, LaterField> {}

type Whole<T> = {readonly [Name in keyof T]-?: Exclude<T[Name], undefined>};

const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
const COUNT_BYTES = 8;
const WORD_BYTES = 32;

/** @throws ExecutionError BLOCK_INVALID if the bytes are no block; `where` names it in the message */
export function decodeBlockHead(blockRlp: Uint8Array, where: string): BlockHead {
  return decode(where, "a block", () => {
    const block = readerOf(blockRlp).readList();
    const start = block.at;
    block.readList();
    return block.bytes.subarray(start, block.at);
  });
}

/** @throws ExecutionError BLOCK_INVALID if the bytes are no header; `where` names it in the message */
export function decodeHeader(headerRlp: Uint8Array, where: string): BlockHead {
  return decode(where, "a block's header", () => headerRlp);
}

function decode(where: string, what: string, find: () => Uint8Array): BlockHead {
  try {
    // A copy: what is kept of it does not keep the whole block.
    return readHead(new Uint8Array(find()));
  } catch (error) {
    const reason = (error as Error).message;
    throw new ExecutionError("BLOCK_INVALID", `${where}: expected ${what}, got other bytes: ${reason}`, {
      cause: error,
    });
  }
}

function readHead(headerRlp: Uint8Array): BlockHead {
  const outer = new RlpReader(headerRlp);
  const fields = outer.readList();
  outer.close();
  const hash = (): Uint8Array => fields.readBytes(HASH_BYTES);
  const count = (): bigint => fields.readNumber(COUNT_BYTES);
  const parentHash = hash();
  hash();
  const miner = fields.readBytes(ADDRESS_BYTES);
  const stateRoot = hash();
  for (let skipped = 0; skipped < 3; skipped++) fields.readBytes(); // two roots and the bloom
  const difficulty = fields.readNumber(WORD_BYTES);
  const number = count();
  if (number > Number.MAX_SAFE_INTEGER) throw new Error(`number: expected at most 2^53 - 1, got ${number}`);
  const [gasLimit, gasUsed, timestamp] = [count(), count(), count()];
  const extraData = fields.readBytes();
  const mixHash = hash();
  fields.readBytes(); // nonce
  const early = {parentHash, miner, stateRoot, difficulty, gasLimit, gasUsed, timestamp, extraData, mixHash};
  const head = {...early, number: Number(number), hash: keccak256(headerRlp)};
  if (fields.isDone) return head;
  const baseFeePerGas = fields.readNumber(WORD_BYTES);
  if (!fields.isDone) fields.readBytes(); // withdrawals root
  if (fields.isDone) return {...head, baseFeePerGas};
  return {...head, baseFeePerGas, blobGasUsed: count(), excessBlobGas: count()};
}

/** Views of a Buffer are Buffers, which cost three times as much. */
function readerOf(bytes: Uint8Array): RlpReader {
  return new RlpReader(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
}
