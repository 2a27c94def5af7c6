/**
 * The record of a block: its header, and the root that leads to all its state. Writing this record commits the block.
 *
 *   hash 32 | stateRoot 32 | account tree root 49 | next page u48 | fields u8 | the fields present, in this order:
 *   parentHash 32 | timestamp u64 | gasLimit u64 | baseFeePerGas 32 | miner 20 | mixHash 32 | extraData length u16, bytes
 *   difficulty 32, unless 0
 *   the header's own stateRoot 32, if the source gave it
 *
 * `fields` has one bit per field but the last one, lowest first: a record that goes on has the last one. All pages of this block and of earlier blocks have numbers below `next page`.
 */

import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {decodeTreeRoot, encodeTreeRootInto, TREE_ROOT_BYTES, type TreeRoot} from "../tree/treeRoot.ts";
import type {BlockHeader} from "./blockDifference.ts";

/** Enough for the longest genesis extraData in use (a proof-of-authority list of 3 000 signers). */
export const MAX_EXTRA_DATA_BYTES = 0xffff;

export interface BlockRecord {
  readonly header: BlockHeader;
  /** 32 bytes: the top root of the account tree. */
  readonly stateRoot: Uint8Array;
  readonly accounts: TreeRoot;
  /** The number of the first page that does not belong to this block or an earlier one. */
  readonly nextPage: number;
}

const FIXED_BYTES = 2 * WORD_BYTES + TREE_ROOT_BYTES + 6 + 1;

export function encodeBlockRecord({header, stateRoot, accounts, nextPage}: BlockRecord): Buffer {
  const {parentHash, timestamp, gasLimit, baseFeePerGas, miner, mixHash, extraData, difficulty} = header;
  const headerRoot = header.stateRoot;
  const fixed = Buffer.alloc(FIXED_BYTES);
  fixed.set(header.hash, 0);
  fixed.set(stateRoot, WORD_BYTES);
  encodeTreeRootInto(fixed, 2 * WORD_BYTES, accounts);
  fixed.writeUIntBE(nextPage, 2 * WORD_BYTES + TREE_ROOT_BYTES, 6);
  const fields: (Uint8Array | undefined)[] = [
    parentHash,
    timestamp === undefined ? undefined : bigEndian(timestamp, 8),
    gasLimit === undefined ? undefined : bigEndian(gasLimit, 8),
    baseFeePerGas === undefined ? undefined : bigEndian(baseFeePerGas, WORD_BYTES),
    miner,
    mixHash,
    extraData === undefined ? undefined : Buffer.concat([bigEndian(BigInt(extraData.length), 2), extraData]),
    difficulty === undefined || difficulty === 0n ? undefined : bigEndian(difficulty, WORD_BYTES),
  ];
  let bits = 0;
  fields.forEach((field, bit) => {
    if (field !== undefined) bits |= 1 << bit;
  });
  fixed[FIXED_BYTES - 1] = bits;
  return Buffer.concat([fixed, ...[...fields, headerRoot].filter(field => field !== undefined)]);
}

/** The block's hash, a view of its record. */
export function hashOfBlockRecord(body: Buffer): Buffer {
  return body.subarray(0, WORD_BYTES);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeBlockRecord(number: number, body: Buffer): BlockRecord {
  let at = FIXED_BYTES;
  const take = (bytes: number): Buffer => {
    if (at + bytes > body.length)
      throw new StoreError("RECORD_DAMAGED", `record of block ${number} is too short`);
    at += bytes;
    return body.subarray(at - bytes, at);
  };
  if (body.length < FIXED_BYTES)
    throw new StoreError("RECORD_DAMAGED", `record of block ${number} is too short`);
  const bits = body[FIXED_BYTES - 1] as number;
  const header: {-readonly [K in keyof BlockHeader]: BlockHeader[K]} = {
    number,
    hash: hashOfBlockRecord(body),
  };
  if (bits & 1) header.parentHash = take(WORD_BYTES);
  if (bits & 2) header.timestamp = take(8).readBigUInt64BE();
  if (bits & 4) header.gasLimit = take(8).readBigUInt64BE();
  if (bits & 8) header.baseFeePerGas = toBigInt(take(WORD_BYTES));
  if (bits & 16) header.miner = take(20);
  if (bits & 32) header.mixHash = take(WORD_BYTES);
  if (bits & 64) header.extraData = take(take(2).readUInt16BE());
  if (bits & 128) header.difficulty = toBigInt(take(WORD_BYTES));
  if (at < body.length) header.stateRoot = take(WORD_BYTES);
  return {
    header,
    stateRoot: body.subarray(WORD_BYTES, 2 * WORD_BYTES),
    accounts: decodeTreeRoot(body, 2 * WORD_BYTES),
    nextPage: body.readUIntBE(2 * WORD_BYTES + TREE_ROOT_BYTES, 6),
  };
}

/** `value` as `bytes` bytes. @throws StoreError BLOCK_INVALID if it does not fit */
export function bigEndian(value: bigint, bytes: number): Buffer {
  if (value < 0n || value >= 1n << BigInt(8 * bytes))
    throw new StoreError("BLOCK_INVALID", `${value} does not fit ${bytes} bytes`);
  return Buffer.from(value.toString(16).padStart(2 * bytes, "0"), "hex");
}

function toBigInt(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString("hex")}`);
}
