/** A block's header as JSON gives it: a node, or where it need not be whole a line of differences, or the manifest of a pull. */

import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {type JsonObject, parseBytes, parseFixedBytes, parseQuantity} from "../rpc/answerValues.ts";

/** `rest` has no JSON. */
type HeaderFields = Omit<BlockHeader, "number" | "hash" | "rest">;
type Parse = (value: unknown, field: string) => bigint | Uint8Array;

const fixed =
  (length: number): Parse =>
  (value, field) =>
    parseFixedBytes(value, field, length);
const quantity =
  (bits: number): Parse =>
  (value, field) =>
    parseQuantity(value, field, bits);

const PARSERS: Readonly<Record<keyof HeaderFields, Parse>> = {
  parentHash: fixed(32),
  timestamp: quantity(64),
  gasLimit: quantity(64),
  baseFeePerGas: quantity(256),
  miner: fixed(20),
  mixHash: fixed(32),
  extraData: (value, field) => parseBytes(value, field),
  difficulty: quantity(256),
  stateRoot: fixed(32),
  gasUsed: quantity(64),
  blobGasUsed: quantity(64),
  excessBlobGas: quantity(64),
};

export const HEADER_FIELDS = Object.keys(PARSERS) as readonly (keyof HeaderFields)[];

/**
 * Fields that are not there are left out.
 *
 * @param prefix - before a field's name in messages
 * @throws NodeFailure naming the field
 */
export function parseHeaderFields(object: JsonObject, prefix: string): HeaderFields {
  const given = Object.entries(PARSERS).filter(([name]) => object[name] !== undefined);
  return Object.fromEntries(given.map(([name, parse]) => [name, parse(object[name], prefix + name)]));
}
