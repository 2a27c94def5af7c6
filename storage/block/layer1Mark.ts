/**
 * The record `layer1`: how far the events of the rollup contract have been read, and how many finalizations are recorded.
 *
 *   count u48 | block u48 | block hash 32 | contract address 20
 *
 * It is written in one batch with the finalizations that it counts and the mark `finalized`.
 */
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";

/** All events of `contract` up to layer-1 block `block` are recorded. */
export interface Layer1Mark {
  readonly block: number;
  /** 32 bytes. A layer 1 with another hash at `block` is another chain, or has taken back what was final. */
  readonly blockHash: Uint8Array;
  /** 20 bytes. */
  readonly contract: Uint8Array;
}

const NUMBER_BYTES = 6;
const ADDRESS_BYTES = 20;
const HASH_AT = 2 * NUMBER_BYTES;
const CONTRACT_AT = HASH_AT + WORD_BYTES;

/** @param count - of the finalizations that are recorded */
export function encodeLayer1Mark({block, blockHash, contract}: Layer1Mark, count: number): Buffer {
  const body = Buffer.alloc(CONTRACT_AT + ADDRESS_BYTES);
  body.writeUIntBE(count, 0, NUMBER_BYTES);
  body.writeUIntBE(block, NUMBER_BYTES, NUMBER_BYTES);
  body.set(blockHash, HASH_AT);
  body.set(contract, CONTRACT_AT);
  return body;
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeLayer1Mark(body: Buffer): {readonly mark: Layer1Mark; readonly count: number} {
  if (body.length !== CONTRACT_AT + ADDRESS_BYTES)
    throw new StoreError("RECORD_DAMAGED", `the layer1 record has ${body.length} bytes`);
  return {
    count: body.readUIntBE(0, NUMBER_BYTES),
    mark: {
      block: body.readUIntBE(NUMBER_BYTES, NUMBER_BYTES),
      blockHash: body.subarray(HASH_AT, CONTRACT_AT),
      contract: body.subarray(CONTRACT_AT),
    },
  };
}
