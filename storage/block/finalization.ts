/**
 * The record of one finalization: what the rollup contract on layer 1 said about a range of blocks.
 *
 *   end block u48 | layer-1 block u48 | log index u32 | transaction hash 32 | final root 32 | fields u8 | start block u48
 *
 * Bit 0 of `fields` says that the start block is there. The contract's older event does not name it.
 */
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";

export interface Finalization {
  /** undefined: the event does not name it. The range begins after the finalization before. */
  readonly startBlock: number | undefined;
  readonly endBlock: number;
  /** Number of the layer-1 block that holds the event. */
  readonly layer1Block: number;
  /** Place of the event among those of its layer-1 block. */
  readonly logIndex: number;
  /** 32 bytes: the layer-1 transaction. */
  readonly transactionHash: Uint8Array;
  /** 32 bytes: the state root of `endBlock` that the contract holds. With another hash suite it is not the root held here. */
  readonly finalRoot: Uint8Array;
}

const TRANSACTION_AT = 16;
const ROOT_AT = TRANSACTION_AT + WORD_BYTES;
const FIELDS_AT = ROOT_AT + WORD_BYTES;
const FIXED_BYTES = FIELDS_AT + 1;
const NUMBER_BYTES = 6;

export function encodeFinalization(finalization: Finalization): Buffer {
  const {startBlock, endBlock, layer1Block, logIndex, transactionHash, finalRoot} = finalization;
  const body = Buffer.alloc(FIXED_BYTES + (startBlock === undefined ? 0 : NUMBER_BYTES));
  body.writeUIntBE(endBlock, 0, NUMBER_BYTES);
  body.writeUIntBE(layer1Block, NUMBER_BYTES, NUMBER_BYTES);
  body.writeUInt32BE(logIndex, 2 * NUMBER_BYTES);
  body.set(transactionHash, TRANSACTION_AT);
  body.set(finalRoot, ROOT_AT);
  if (startBlock !== undefined) {
    body[FIELDS_AT] = 1;
    body.writeUIntBE(startBlock, FIXED_BYTES, NUMBER_BYTES);
  }
  return body;
}

/** @param index - of the record, for the message. @throws StoreError RECORD_DAMAGED */
export function decodeFinalization(index: number, body: Buffer): Finalization {
  const fields = body[FIELDS_AT];
  const isWhole = fields === 0 || fields === 1;
  if (!isWhole || body.length !== FIXED_BYTES + fields * NUMBER_BYTES)
    throw new StoreError("RECORD_DAMAGED", `finalization ${index} has ${body.length} bytes or other fields`);
  return {
    startBlock: fields === 1 ? body.readUIntBE(FIXED_BYTES, NUMBER_BYTES) : undefined,
    endBlock: body.readUIntBE(0, NUMBER_BYTES),
    layer1Block: body.readUIntBE(NUMBER_BYTES, NUMBER_BYTES),
    logIndex: body.readUInt32BE(2 * NUMBER_BYTES),
    transactionHash: body.subarray(TRANSACTION_AT, ROOT_AT),
    finalRoot: body.subarray(ROOT_AT, FIELDS_AT),
  };
}
