/**
 * What a store of slices takes from a block in place of its changes, and the record of the contracts in the slices.
 *
 *   slice   [{"address": "0x..", "from": 100, "to": 200}, ..]     JSON; a store of whole tries has no such record
 */
import {StoreError} from "../errors.ts";
import {toHex} from "../hex.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Proofs, whose nodes are believed by their hashes alone. */
export interface SliceBlock {
  /** RLP of the nodes of proofs at the block: of all contracts, and of the slots that it changed. In any order. */
  readonly nodes: readonly Uint8Array[];
  readonly contracts: readonly SliceContract[];
  /** The parent's state was not to be had: the slices begin again, and which slots the block changed is not known. */
  readonly isFresh: boolean;
}

export interface SliceContract {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Slots that the block changed, 32 bytes each, with their proofs at the parent: RLP of nodes, from the root down. */
  readonly slots: readonly {readonly slot: Uint8Array; readonly before: readonly Uint8Array[]}[];
  /** All its slots are to be stored. */
  readonly isWhole?: boolean | undefined;
  /** All slots after the block, in the order of their paths. Only of a contract that the parent's slice lacks. */
  readonly whole?: readonly WholeSlot[] | undefined;
}

export interface WholeSlot {
  /** 32 bytes: the keccak256 of the slot. */
  readonly path: Uint8Array;
  /** 32 bytes. */
  readonly value: Uint8Array;
}

/** What is to be recorded of a contract. */
export interface SlicedAddress {
  /** 0x text, in lower case. */
  readonly address: string;
  /** All its slots are stored from its first block on. */
  readonly isWhole: boolean;
}

/** Blocks `from` to `to` have the contract's account and slots. */
export interface SlicedContract {
  /** 0x text, in lower case. */
  readonly address: string;
  readonly from: number;
  /** undefined: it is still recorded. */
  readonly to?: number | undefined;
}

export function encodeSlice(contracts: readonly SlicedContract[]): Buffer {
  return Buffer.from(JSON.stringify(contracts));
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeSlice(body: Buffer): readonly SlicedContract[] {
  let contracts: unknown;
  try {
    contracts = JSON.parse(body.toString());
  } catch {
    contracts = undefined;
  }
  if (Array.isArray(contracts) && contracts.every(isContract)) return contracts;
  throw new StoreError("RECORD_DAMAGED", "slice record: expected contracts with their blocks");
}

function isContract(one: unknown): one is SlicedContract {
  const {address, from, to} = (one ?? {}) as Partial<Record<keyof SlicedContract, unknown>>;
  const isBlock = Number.isSafeInteger(from) && (to === undefined || Number.isSafeInteger(to));
  return typeof address === "string" && ADDRESS.test(address) && isBlock;
}

/** The record after a block with these contracts. */
export function sliceAfter(
  before: readonly SlicedContract[],
  block: number,
  contracts: readonly SliceContract[],
): readonly SlicedContract[] {
  const now = new Set(contracts.map(({address}) => toHex(address)));
  const kept = before.map(one =>
    one.to === undefined && !now.has(one.address) ? {...one, to: block - 1} : one,
  );
  for (const {address, to} of kept) if (to === undefined) now.delete(address);
  return [...kept, ...[...now].map(address => ({address, from: block}))];
}

/** The record after a rollback to `block`. */
export function sliceUpTo(contracts: readonly SlicedContract[], block: number): readonly SlicedContract[] {
  return contracts
    .filter(({from}) => from <= block)
    .map(one => (one.to !== undefined && one.to >= block ? {address: one.address, from: one.from} : one));
}
