/**
 * The header of an RLP block, read without touching its transactions.
 *
 *   block  = [header, transactions, uncles, (withdrawals)]
 *   header = [parentHash, uncleHash, miner, stateRoot, transactionsRoot, receiptsRoot, logsBloom, difficulty, number,
 *             gasLimit, gasUsed, timestamp, extraData, mixHash, nonce,
 *             (baseFee, (withdrawalsRoot, (blobGasUsed, excessBlobGas, parentBeaconBlockRoot, ...)))]
 */
import {RLP} from "@ethereumjs/rlp";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {ExecutionError} from "./errors.ts";

/** Since London, and since Cancun. */
type LaterField = "baseFeePerGas" | "blobGasUsed" | "excessBlobGas";

/** The header fields that the store keeps, and those that the next block is checked against. */
export interface BlockHead extends Required<Omit<BlockHeader, LaterField>>, Pick<BlockHeader, LaterField> {}

const MIN_FIELDS = 15;
/** With blobGasUsed, excessBlobGas and parentBeaconBlockRoot there are more than this many. */
const CANCUN_FIELDS = 19;

/** @throws ExecutionError BLOCK_INVALID if the bytes are no block; `where` names it in the message */
export function decodeBlockHead(blockRlp: Uint8Array, where: string): BlockHead {
  return decode(() => firstItem(blockRlp), `${where}: expected a block, got other bytes`);
}

/** @throws ExecutionError BLOCK_INVALID if the bytes are no header; `where` names it in the message */
export function decodeHeader(headerRlp: Uint8Array, where: string): BlockHead {
  return decode(() => headerRlp, `${where}: expected a block's header, got other bytes`);
}

function decode(readHeader: () => Uint8Array, failure: string): BlockHead {
  try {
    const headerRlp = readHeader();
    const fields = RLP.decode(headerRlp);
    if (!Array.isArray(fields) || fields.length < MIN_FIELDS)
      throw new Error(`header: expected a list of at least ${MIN_FIELDS} fields, got ${fields.length}`);
    const field = (index: number, name: string, bytes?: number): Uint8Array => {
      const value = fields[index];
      if (!(value instanceof Uint8Array)) throw new Error(`${name}: expected bytes, got a list`);
      if (bytes !== undefined && value.length !== bytes)
        throw new Error(`${name}: expected ${bytes} bytes, got ${value.length}`);
      return value;
    };
    const number = toQuantity(field(8, "number"), "number");
    if (number > Number.MAX_SAFE_INTEGER) throw new Error(`number: expected at most 2^53 - 1, got ${number}`);
    return {
      number: Number(number),
      hash: keccak256(headerRlp),
      parentHash: field(0, "parentHash", 32),
      stateRoot: field(3, "stateRoot", 32),
      difficulty: toQuantity(field(7, "difficulty"), "difficulty"),
      miner: field(2, "miner", 20),
      gasLimit: toQuantity(field(9, "gasLimit"), "gasLimit", 8),
      timestamp: toQuantity(field(11, "timestamp"), "timestamp", 8),
      extraData: field(12, "extraData"),
      mixHash: field(13, "mixHash", 32),
      gasUsed: toQuantity(field(10, "gasUsed"), "gasUsed", 8),
      ...(fields.length > MIN_FIELDS && {
        baseFeePerGas: toQuantity(field(15, "baseFeePerGas"), "baseFeePerGas"),
      }),
      ...(fields.length > CANCUN_FIELDS && {
        blobGasUsed: toQuantity(field(17, "blobGasUsed"), "blobGasUsed", 8),
        excessBlobGas: toQuantity(field(18, "excessBlobGas"), "excessBlobGas", 8),
      }),
    };
  } catch (error) {
    throw new ExecutionError("BLOCK_INVALID", `${failure}: ${(error as Error).message}`, {cause: error});
  }
}

/** The first item of an RLP list, with its head, as a view. */
function firstItem(list: Uint8Array): Uint8Array {
  const outer = listBounds(list);
  const inner = listBounds(list.subarray(outer.start, outer.end));
  return list.subarray(outer.start, outer.start + inner.end);
}

function listBounds(bytes: Uint8Array): {start: number; end: number} {
  const first = bytes[0] ?? 0;
  if (first < 0xc0) throw new Error("expected a list, got bytes");
  const lengthBytes = Math.max(0, first - 0xf7);
  let length = first - 0xc0;
  if (lengthBytes > 0) {
    length = 0;
    for (let i = 1; i <= lengthBytes; i++) length = length * 256 + (bytes[i] ?? 0);
  }
  const start = 1 + lengthBytes;
  if (start + length > bytes.length)
    throw new Error(`expected a list of ${length} bytes, got ${bytes.length - start}`);
  return {start, end: start + length};
}

function toQuantity(bytes: Uint8Array, name: string, maxBytes = 32): bigint {
  if (bytes.length > maxBytes)
    throw new Error(`${name}: expected at most ${maxBytes} bytes, got ${bytes.length}`);
  if (bytes[0] === 0)
    throw new Error(`${name}: expected no leading zeros, got 0x${Buffer.from(bytes).toString("hex")}`);
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}
