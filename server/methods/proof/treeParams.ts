/** The parameters that name a tree, and counts of its leaves. */
import {MAX_RANGE_BYTES} from "../../../workers/messages/leavesCall.ts";
import {encodeQuantity, parseQuantity} from "../../rpc/quantity.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {RequestView} from "../method.ts";
import {ADDRESS_BYTES, ADDRESS_EXPECTED, decodeAddressInto} from "../words.ts";

/** @param names - what the tree may be, besides an address. @throws RpcError INVALID_PARAMS */
export function readTree<Name extends string>(tree: unknown, names: readonly Name[]): Uint8Array | Name {
  const name = names.find(one => one === tree);
  if (name !== undefined) return name;
  const address = new Uint8Array(ADDRESS_BYTES);
  if (decodeAddressInto(tree, address, 0)) return address;
  const listed = names.map(one => `"${one}"`).join(", ");
  throw createValueError("params[0] (tree)", tree, `${listed}, or an address of ${ADDRESS_EXPECTED}`);
}

export function parseNumber(value: unknown): number | undefined {
  return typeof value === "string" ? parseQuantity(value) : undefined;
}

/** @returns undefined for what is no number from 1 to `most` */
export function parseCount(value: unknown, most: number): number | undefined {
  const count = parseNumber(value);
  return count !== undefined && count > 0 && count <= most ? count : undefined;
}

/** @param position - of the parameter. @throws RpcError INVALID_PARAMS */
export function readCount(value: unknown, position: number, most: number): number {
  const count = parseCount(value, most);
  if (count !== undefined) return count;
  const expected = `a 0x quantity from 0x1 to ${encodeQuantity(most)}`;
  throw createValueError(`params[${position}] (count)`, value, expected);
}

/** Upper bound of an answer's hex: however many leaves are asked for, it ends at so many bytes. */
export function rangeTextBytes(cost: number, {maxProofTextBytes}: RequestView): number {
  return Math.min(cost * maxProofTextBytes, 2 * MAX_RANGE_BYTES);
}
