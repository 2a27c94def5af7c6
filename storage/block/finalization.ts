/**
 * The record of one finalization: an event of the rollup contract on layer 1 about a range of blocks.
 *
 *   end block u48 | layer-1 block u48 | log index u32 | transaction hash 32 | final 32 | fields u8 | start block u48
 *
 * Bit 0 of `fields`: the start block is present (the contract's oldest event does not name it). Bit 1: `final` is a
 * block hash, not a state root.
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {BodyReader, encodeNumber} from "../record/recordBody.ts";

const HAS_START = 1;
const IS_HASH = 2;

export interface Finalization {
  /** undefined: the event does not name it. The range begins after the finalization before. */
  readonly startBlock: number | undefined;
  readonly endBlock: number;
  readonly layer1Block: number;
  readonly logIndex: number;
  readonly transactionHash: Uint8Array;
  readonly names: "stateRoot" | "blockHash";
  /** 32 bytes: of `endBlock`. With another hash suite, the state root differs from the stored one. */
  readonly final: Uint8Array;
}

export function encodeFinalization(finalization: Finalization): Buffer {
  const {startBlock, endBlock, layer1Block, logIndex, transactionHash, names, final} = finalization;
  return Buffer.concat([
    encodeNumber(endBlock),
    encodeNumber(layer1Block),
    encodeNumber(logIndex, 4),
    transactionHash,
    final,
    Buffer.of((startBlock === undefined ? 0 : HAS_START) | (names === "blockHash" ? IS_HASH : 0)),
    ...(startBlock === undefined ? [] : [encodeNumber(startBlock)]),
  ]);
}

/** @param index - of the record, for the message. @throws StoreError RECORD_DAMAGED */
export function decodeFinalization(index: number, body: Buffer): Finalization {
  const reader = new BodyReader(`finalization ${index}`, body);
  const fixed = {
    endBlock: reader.number(),
    layer1Block: reader.number(),
    logIndex: reader.number(4),
    transactionHash: reader.bytes(WORD_BYTES),
    final: reader.bytes(WORD_BYTES),
  };
  const fields = reader.number(1);
  if (fields > (HAS_START | IS_HASH)) throw reader.damage(`unknown fields: ${fields}`);
  return reader.end({
    ...fixed,
    names: (fields & IS_HASH) === 0 ? "stateRoot" : "blockHash",
    startBlock: (fields & HAS_START) === 0 ? undefined : reader.number(),
  });
}
