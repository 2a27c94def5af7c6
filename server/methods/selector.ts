/**
 * Block selectors: a quantity, a hash, a tag, or {"blockNumber"} or {"blockHash"} (EIP-1898). They are resolved with
 * one head.
 *
 *   tag                 provable (of proofs)     header (eth_getBlockBy..)     stored (the other methods)
 *   finalized, safe     newest finalized         newest finalized              newest finalized
 *   latest, pending     newest finalized         newest finalized              newest stored
 *   earliest            oldest finalized         oldest stored                 oldest stored
 *
 * A number or hash names its block. `provable` refuses a block that is not finalized. Only `header` takes a pruned one.
 */

import type {ChainView} from "../../workers/chain/chainView.ts";
import type {Head} from "../../workers/messages/head.ts";
import {FieldNames} from "../rpc/fieldNames.ts";
import {decodeHexInto} from "../rpc/hexText.ts";
import {parseBlockNumber} from "../rpc/quantity.ts";
import {
  AheadError,
  createBlockUnknownError,
  createNotFinalizedError,
  createParamsError,
  createPrunedError,
  createValueError,
} from "../rpc/rpcError.ts";

export type SelectorColumn = "provable" | "header" | "stored";

/** What a selector is resolved with: one head for the whole HTTP request. */
export interface BlockView {
  readonly head: Head;
  readonly chain: Pick<ChainView, "findBlock" | "pruned"> & Partial<Pick<ChainView, "chainId">>;
}

const EXPECTED =
  'a 0x block number without leading zeros, a block hash, one of latest, earliest, pending, safe, finalized, or {"blockNumber"} or {"blockHash"}';
const NAMES = new FieldNames(["blockNumber", "blockHash", "requireCanonical"]);
const HASH_BYTES = 32;
const HASH_CHARACTERS = 2 + 2 * HASH_BYTES;
/** A number further above the newest block than this names a block that will not be here soon. */
export const MAX_BLOCKS_AHEAD = 1024;

/**
 * @param name - for messages. @returns the number of a stored block
 * @throws RpcError INVALID_PARAMS, BLOCK_UNKNOWN, NOT_FINALIZED
 */
export function resolveSelector(
  selector: unknown,
  name: string,
  column: SelectorColumn,
  view: BlockView,
): number {
  if (typeof selector === "object" && selector !== null && !Array.isArray(selector))
    return resolveObject(selector as Record<string, unknown>, name, column, view);
  const isHash = typeof selector === "string" && selector.length === HASH_CHARACTERS;
  const found = isHash ? resolveHash(selector, column, view) : resolveName(selector, column, view);
  if (found === undefined) throw createValueError(name, selector, EXPECTED);
  return found;
}

/** Whether the selector names the newest block, finalized or not. */
export function namesLatest(selector: unknown): boolean {
  const isObject = typeof selector === "object" && selector !== null;
  const named = isObject ? (selector as {blockNumber?: unknown}).blockNumber : selector;
  return named === "latest" || named === "pending";
}

/** Resolves a number or a tag. @returns undefined for anything else */
function resolveName(text: unknown, column: SelectorColumn, view: BlockView): number | undefined {
  if (typeof text !== "string") return undefined;
  const tagged = resolveTag(text, column, view);
  if (tagged !== undefined) return tagged;
  const block = parseBlockNumber(text);
  return block === undefined ? undefined : checkBlock(block, text, column, view);
}

function resolveTag(tag: string, column: SelectorColumn, view: BlockView): number | undefined {
  const {head} = view;
  switch (tag) {
    case "latest":
    case "pending":
      if (column !== "stored") return requireFinalized(tag, head);
      if (head.latest === undefined) throw createBlockUnknownError(tag, head);
      return head.latest;
    case "safe":
    case "finalized":
      return requireFinalized(tag, head);
    case "earliest":
      if (head.earliest === undefined) throw createBlockUnknownError(tag, head);
      return checkBlock(view.chain.pruned.unprunedFrom(head.earliest), tag, column, view);
    default:
      return undefined;
  }
}

function requireFinalized(tag: string, head: Head): number {
  if (head.latest === undefined) throw createBlockUnknownError(tag, head);
  if (head.finalized === undefined) throw createNotFinalizedError(tag, head);
  return head.finalized;
}

/** EIP-1898. A field that is null is absent. Stored blocks are canonical, so `requireCanonical` has no effect. */
function resolveObject(
  fields: Record<string, unknown>,
  name: string,
  column: SelectorColumn,
  view: BlockView,
): number {
  NAMES.requireCase(fields, name);
  // Names like __proto__ are fields like any other after JSON.parse, so none of these is inherited.
  const {blockNumber: number = null, blockHash: hash = null, requireCanonical = null} = fields;
  const got = number === null ? "neither" : "both";
  if ((number === null) === (hash === null))
    throw createParamsError(`${name}: expected blockNumber or blockHash, got ${got}`);
  if (requireCanonical !== null && typeof requireCanonical !== "boolean")
    throw createValueError(`${name}.requireCanonical`, requireCanonical, "true or false");
  const found = hash === null ? resolveName(number, column, view) : resolveHash(hash, column, view);
  if (found !== undefined) return found;
  if (hash !== null) throw createValueError(`${name}.blockHash`, hash, "0x and 64 hex digits");
  throw createValueError(`${name}.blockNumber`, number, "a 0x block number without leading zeros or a tag");
}

/** @returns undefined for anything else than 32 bytes */
function resolveHash(text: unknown, column: SelectorColumn, view: BlockView): number | undefined {
  const hash = new Uint8Array(HASH_BYTES);
  const isHash = typeof text === "string" && text.length === HASH_CHARACTERS;
  if (!isHash || !decodeHexInto(text, hash, 0, HASH_BYTES)) return undefined;
  const block = view.chain.findBlock(hash);
  // A block that was imported after the request's head was read does not exist for this request.
  if (block === undefined || view.head.latest === undefined || block > view.head.latest)
    throw createBlockUnknownError(text, view.head, AheadError);
  return checkBlock(block, text, column, view);
}

function checkBlock(block: number, shown: string, column: SelectorColumn, {head, chain}: BlockView): number {
  if (chain.pruned.has(block)) {
    if (column === "header") return block;
    throw createPrunedError(shown, chain.pruned.nearest(block), head);
  }
  const {earliest, latest} = head;
  if (earliest === undefined || latest === undefined || block < earliest || block > latest + MAX_BLOCKS_AHEAD)
    throw createBlockUnknownError(shown, head);
  if (block > latest) throw createBlockUnknownError(shown, head, AheadError);
  if (column === "provable" && (head.finalized === undefined || block > head.finalized))
    throw createNotFinalizedError(shown, head);
  return block;
}
