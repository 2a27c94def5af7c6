/**
 * What a store of slices takes from a block (storage/block/sliceBlock.ts), as bytes.
 *
 *   slice      1 | is fresh u8 | nodes | contracts u32 | contracts, each                or 2: the block was missed
 *   contract   address 20 | slots u32 | slots, each: slot 32, nodes | is whole u8 | [slots u32 | slots, each: path 32, value 32]
 *   nodes      u32 | nodes, each: length u32, RLP
 */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import type {SliceBlock, SliceContract} from "../../storage/block/sliceBlock.ts";
import {type BodyReader, encodeNumber} from "../../storage/record/recordBody.ts";

const TAKEN = 1;
const MISSED = 2;
const COUNT_BYTES = 4;
const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;

export function encodeSliceBlock(slice: SliceBlock | "missed"): Buffer {
  if (slice === "missed") return Buffer.of(MISSED);
  const {nodes, contracts, isFresh} = slice;
  return Buffer.concat([
    Buffer.of(TAKEN, Number(isFresh)),
    ...encodeNodes(nodes),
    encodeCount(contracts),
    ...contracts.flatMap(encodeContract),
  ]);
}

function encodeContract({address, slots, whole}: SliceContract): Uint8Array[] {
  return [
    address,
    encodeCount(slots),
    ...slots.flatMap(({slot, before}) => [slot, ...encodeNodes(before)]),
    Buffer.of(whole === undefined ? 0 : 1),
    ...(whole === undefined ? [] : [encodeCount(whole)]),
    ...(whole ?? []).flatMap(({path, value}) => [path, value]),
  ];
}

function encodeNodes(nodes: readonly Uint8Array[]): Uint8Array[] {
  return [encodeCount(nodes), ...nodes.flatMap(node => [encodeNumber(node.length, COUNT_BYTES), node])];
}

function encodeCount({length}: {readonly length: number}): Buffer {
  return encodeNumber(length, COUNT_BYTES);
}

/** @throws StoreError RECORD_DAMAGED if the bytes are not what `encodeSliceBlock` gives */
export function readSliceBlock(reader: BodyReader): BlockDifference["slice"] {
  const kind = reader.number(1);
  if (kind === MISSED) return "missed";
  if (kind !== TAKEN) throw reader.damage(`unknown kind ${kind} of a block`);
  const isFresh = reader.flag();
  const nodes = readNodes(reader);
  return {isFresh, nodes, contracts: readList(reader, () => readContract(reader))};
}

function readContract(reader: BodyReader): SliceContract {
  const readWord = (): Buffer => reader.bytes(WORD_BYTES);
  return {
    address: reader.bytes(ADDRESS_BYTES),
    slots: readList(reader, () => ({slot: readWord(), before: readNodes(reader)})),
    whole: reader.flag() ? readList(reader, () => ({path: readWord(), value: readWord()})) : undefined,
  };
}

function readNodes(reader: BodyReader): Uint8Array[] {
  return readList(reader, () => reader.bytes(reader.number(COUNT_BYTES)));
}

function readList<Item>(reader: BodyReader, read: () => Item): Item[] {
  const items: Item[] = [];
  for (let count = reader.number(COUNT_BYTES); count > 0; count--) items.push(read());
  return items;
}
