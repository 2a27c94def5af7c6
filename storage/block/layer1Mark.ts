/**
 * The record `layer1`: how far the events of the rollup contract have been read, and how many finalizations are recorded.
 *
 *   count u48 | block u48 | block hash 32 | contract address 20 | begun u48 | root u8 | from u48, if one was given
 *
 * It is written in one batch with the finalizations that it counts and the mark `finalized`.
 */
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";

/** All events of `contract` up to layer-1 block `block` are recorded. */
export interface Layer1Mark {
  readonly block: number;
  /** 32 bytes. If layer 1 has another hash at `block`, its events are read again from the last recorded one on. */
  readonly blockHash: Uint8Array;
  /** 20 bytes. */
  readonly contract: Uint8Array;
}

/**
 * Which root of a block the contract holds: the one in the block's header, or that of the trees of this store.
 */
export type RootKind = "header" | "suite";

/** Everything that the record says. */
export interface Layer1Record {
  readonly mark: Layer1Mark;
  /** Number of the finalizations that are recorded. */
  readonly count: number;
  /** Their number when finality was begun: the next one had to follow none of them. */
  readonly begun: number;
  /** The first layer-1 block that counted then. undefined: that of the contract's deployment. */
  readonly from: number | undefined;
  /** undefined: not found out yet. */
  readonly root: RootKind | undefined;
}

const NUMBER_BYTES = 6;
const ADDRESS_BYTES = 20;
const HASH_AT = 2 * NUMBER_BYTES;
const CONTRACT_AT = HASH_AT + WORD_BYTES;
const BEGUN_AT = CONTRACT_AT + ADDRESS_BYTES;
const ROOT_AT = BEGUN_AT + NUMBER_BYTES;
const FROM_AT = ROOT_AT + 1;
/** By the byte in the record. */
const ROOTS = [undefined, "header", "suite"] as const;

export function encodeLayer1Record({mark, count, begun, from, root}: Layer1Record): Buffer {
  const body = Buffer.alloc(FROM_AT + (from === undefined ? 0 : NUMBER_BYTES));
  body.writeUIntBE(count, 0, NUMBER_BYTES);
  body.writeUIntBE(mark.block, NUMBER_BYTES, NUMBER_BYTES);
  body.set(mark.blockHash, HASH_AT);
  body.set(mark.contract, CONTRACT_AT);
  body.writeUIntBE(begun, BEGUN_AT, NUMBER_BYTES);
  body[ROOT_AT] = ROOTS.indexOf(root);
  if (from !== undefined) body.writeUIntBE(from, FROM_AT, NUMBER_BYTES);
  return body;
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeLayer1Record(body: Buffer): Layer1Record {
  if (body.length !== FROM_AT && body.length !== FROM_AT + NUMBER_BYTES)
    throw new StoreError("RECORD_DAMAGED", `the layer1 record has ${body.length} bytes`);
  return {
    count: body.readUIntBE(0, NUMBER_BYTES),
    mark: {
      block: body.readUIntBE(NUMBER_BYTES, NUMBER_BYTES),
      blockHash: body.subarray(HASH_AT, CONTRACT_AT),
      contract: body.subarray(CONTRACT_AT, BEGUN_AT),
    },
    begun: body.readUIntBE(BEGUN_AT, NUMBER_BYTES),
    root: ROOTS[body[ROOT_AT] as number],
    from: body.length > FROM_AT ? body.readUIntBE(FROM_AT, NUMBER_BYTES) : undefined,
  };
}
