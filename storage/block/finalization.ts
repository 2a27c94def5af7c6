/**
 * The record of one finalization: what the rollup contract on layer 1 said about a range of blocks.
 *
 *   end block u48 | layer-1 block u48 | log index u32 | transaction hash 32 | final root 32 | fields u8 | start block u48
 *
 * Bit 0 of `fields` says that the start block is there. The contract's older event does not name it.
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {BodyReader, encodeNumber} from "../record/recordBody.ts";

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

export function encodeFinalization(finalization: Finalization): Buffer {
  const {startBlock, endBlock, layer1Block, logIndex, transactionHash, finalRoot} = finalization;
  return Buffer.concat([
    encodeNumber(endBlock),
    encodeNumber(layer1Block),
    encodeNumber(logIndex, 4),
    transactionHash,
    finalRoot,
    Buffer.of(startBlock === undefined ? 0 : 1),
    ...(startBlock === undefined ? [] : [encodeNumber(startBlock)]),
  ]);
}

/** @param index - of the record, for the message. @throws StoreError RECORD_DAMAGED */
export function decodeFinalization(index: number, body: Buffer): Finalization {
  const reader = new BodyReader(`finalization ${index}`, body);
  return reader.end({
    endBlock: reader.number(),
    layer1Block: reader.number(),
    logIndex: reader.number(4),
    transactionHash: reader.bytes(WORD_BYTES),
    finalRoot: reader.bytes(WORD_BYTES),
    startBlock: reader.flag() ? reader.number() : undefined,
  });
}
