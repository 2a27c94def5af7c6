/** Block headers as JSON: from a node, or (perhaps with missing fields) a line of --diffs or the manifest of a pull. */
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {HEADER_ITEMS, type HeaderItem} from "../../storage/block/headerRlp.ts";
import {type JsonObject, parseBytes, parseFixedBytes, parseQuantity} from "../rpc/answerValues.ts";

/** `rest` has no JSON form. */
type HeaderFields = Omit<BlockHeader, "number" | "hash" | "rest">;

/** The fields that the store keeps. */
export const KEPT_ITEMS = HEADER_ITEMS.filter(item => !item.isRest);

/** Leaves out missing fields, and the number. @param prefix - before names in messages. @throws NodeFailure */
export function parseHeaderFields(object: JsonObject, prefix: string): HeaderFields {
  const given = KEPT_ITEMS.filter(({name}) => name !== "number" && object[name] !== undefined);
  return Object.fromEntries(given.map(item => [item.name, parseHeaderItem(object, item, prefix)]));
}

/** @param maxBytes - of extraData. @throws NodeFailure naming the field */
export function parseHeaderItem(
  object: JsonObject,
  {name, bytes, numberBytes}: HeaderItem,
  prefix: string,
  maxBytes?: number,
): bigint | Uint8Array {
  const [value, field] = [object[name], prefix + name];
  if (numberBytes !== undefined) return parseQuantity(value, field, 8 * numberBytes);
  if (bytes !== undefined) return parseFixedBytes(value, field, bytes);
  return parseBytes(value, field, maxBytes);
}
