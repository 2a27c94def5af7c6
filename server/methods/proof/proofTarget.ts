/**
 * The target of a proof that caches may keep, and the call that it stands for:
 *
 *   /v1/proof/{block}/{address}?slots=0x0,0x1     chain_getProofAt
 *
 * A block is named by number, because a tag would mean another block later.
 */
import {createHash} from "node:crypto";
import type {Call} from "../../rpc/envelope.ts";
import {parseBlockNumber} from "../../rpc/quantity.ts";
import {createParamsError, createValueError} from "../../rpc/rpcError.ts";
import {ADDRESS_BYTES, decodeWordInto, requireAddressInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";
import {getProofAt} from "./getProofAt.ts";

export interface ProofTarget {
  readonly call: Call;
  readonly block: number;
  /** SHA-256 of what is asked for: address 20 | slots, 32 bytes each. 64 hex digits. */
  readonly digest: string;
}

const PREFIX = "/v1/";

export function isProofPath(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** @param query - without the question mark. @returns undefined for other paths. @throws RpcError INVALID_PARAMS */
export function parseProofTarget(path: string, query: string): ProofTarget | undefined {
  const [kind, block, address, ...rest] = path.slice(PREFIX.length).split("/");
  if (kind !== "proof" || rest.length > 0) return undefined;
  if (block === undefined || address === undefined)
    throw createParamsError("the path: expected /v1/proof/{block}/{address}");
  const number = parseBlockNumber(block);
  if (number === undefined) throw createValueError("block", block, "a 0x block number without leading zeros");
  const slots = readSlots(query);
  const params = [address, slots, block];
  return {
    // Its answer has the id 0.
    call: {idText: "0", method: getProofAt.name, params, error: undefined},
    block: number,
    digest: digestOf(address, slots),
  };
}

function readSlots(query: string): readonly string[] {
  if (query === "") return [];
  const [key, value, ...rest] = query.split("=");
  if (key !== "slots" || value === undefined || rest.length > 0)
    throw createValueError("the query", query, "slots=..., and nothing else");
  return value === "" ? [] : value.replaceAll(/%2c/gi, ",").split(",");
}

function digestOf(address: string, slots: readonly string[]): string {
  const bytes = Buffer.alloc(ADDRESS_BYTES + slots.length * WORD_BYTES);
  requireAddressInto(address, "address", bytes, 0);
  for (const [i, slot] of slots.entries())
    if (!decodeWordInto(slot, bytes, ADDRESS_BYTES + i * WORD_BYTES))
      throw createValueError("slot", slot, WORD_EXPECTED);
  return createHash("sha256").update(bytes).digest("hex");
}
