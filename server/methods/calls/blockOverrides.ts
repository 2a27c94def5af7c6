/**
 * Parses the overrides of the block, with geth's names. An unknown field is refused: without it the answer would be wrong.
 *
 *   {number, time, gasLimit, feeRecipient, prevRandao, baseFeePerGas, blobBaseFee}
 */
import type {BlockOverrides} from "../../../workers/messages/estimateCall.ts";
import {decodeHexInto} from "../../rpc/hexText.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import {WORD_BYTES} from "../words.ts";
import {GAS_BOUND, parseAddress, parseAmount, parseFields, parseWei, readField} from "./callValues.ts";

/** Numbers of 64 bits. */
const parseNumber = (value: unknown, path: string): bigint => parseAmount(value, path, GAS_BOUND);

const PARSERS = {
  number: ["number", parseNumber],
  time: ["timestamp", parseNumber],
  gasLimit: ["gasLimit", parseNumber],
  feeRecipient: ["miner", parseAddress],
  prevRandao: ["mixHash", parseHash],
  baseFeePerGas: ["baseFeePerGas", parseWei],
  blobBaseFee: ["blobBaseFee", parseWei],
} as const;
const EXPECTED = `{${Object.keys(PARSERS).join(", ")}}`;

/** @param path - of the parameter, such as `params[3]` */
export function parseBlockOverrides(overrides: unknown, path: string): BlockOverrides {
  const fields = parseFields(overrides, `${path} (blockOverrides)`, EXPECTED);
  const parsed: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = readField(fields, name);
    if (value === undefined) continue;
    if (!Object.hasOwn(PARSERS, name))
      throw createValueError(`${path} (blockOverrides)`, name, `only the fields ${EXPECTED}`);
    const [field, parse] = PARSERS[name as keyof typeof PARSERS];
    parsed[field] = parse(value, `${path}.${name}`);
  }
  return parsed as BlockOverrides;
}

function parseHash(value: unknown, path: string): Uint8Array {
  const hash = new Uint8Array(WORD_BYTES);
  const isWhole = typeof value === "string" && value.length === 2 + 2 * WORD_BYTES;
  if (isWhole && decodeHexInto(value, hash, 0, WORD_BYTES)) return hash;
  throw createValueError(path, value, "32 bytes, 0x and 64 hex digits");
}
