/**
 * How far the events of the rollup contract have been read: the record `layer1`.
 *
 *   count u48 | block u48 | block hash 32 | contract address 20 | begun u48 | root u8 | fields u8 | from u48, if bit 0 of `fields` is set
 *
 * It is written in one batch with the finalizations that it counts and the mark `finalized`.
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {BodyReader, encodeNumber} from "../record/recordBody.ts";

/** All events of `contract` up to layer-1 block `block` are recorded. */
export interface Layer1Mark {
  readonly block: number;
  /** 32 bytes. If layer 1 now has another hash at `block`, its events are read again from the last recorded one on. */
  readonly blockHash: Uint8Array;
  /** 20 bytes. */
  readonly contract: Uint8Array;
}

/** The root that the contract stores: that of the block's header, or of this store's sparse trees. */
export type RootKind = "header" | "suite";

export interface Layer1Record {
  readonly mark: Layer1Mark;
  readonly count: number;
  /** `count` when the finality scan was last restarted: the next finalization need not follow these. */
  readonly begun: number;
  /** The first layer-1 block of that scan. undefined: the block of the contract's deployment. */
  readonly from: number | undefined;
  /** undefined: not determined yet. */
  readonly root: RootKind | undefined;
}

const ADDRESS_BYTES = 20;
const ROOTS = [undefined, "header", "suite"] as const;

export function encodeLayer1Record({mark, count, begun, from, root}: Layer1Record): Buffer {
  return Buffer.concat([
    encodeNumber(count),
    encodeNumber(mark.block),
    mark.blockHash,
    mark.contract,
    encodeNumber(begun),
    Buffer.of(ROOTS.indexOf(root), from === undefined ? 0 : 1),
    ...(from === undefined ? [] : [encodeNumber(from)]),
  ]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeLayer1Record(body: Buffer): Layer1Record {
  const reader = new BodyReader("the layer1 record", body);
  return reader.end({
    count: reader.number(),
    mark: {
      block: reader.number(),
      blockHash: reader.bytes(WORD_BYTES),
      contract: reader.bytes(ADDRESS_BYTES),
    },
    begun: reader.number(),
    root: ROOTS[reader.number(1)],
    from: reader.flag() ? reader.number() : undefined,
  });
}
