/** Addresses and 32-byte words as callers write them. Hot: a call may have thousands, so only a caller that refuses one builds its path. */
import {decodeHexInto} from "../rpc/hexText.ts";
import {createValueError} from "../rpc/rpcError.ts";

export const ADDRESS_BYTES = 20;
export const ADDRESS_EXPECTED = "20 bytes, 0x and 40 hex digits";
export const WORD_BYTES = 32;
export const WORD_EXPECTED = "0x and 1 to 64 hex digits";

/** Writes 20 bytes at `at`. @returns false if `value` is not an address (ADDRESS_EXPECTED) */
export function decodeAddressInto(value: unknown, out: Uint8Array, at: number): boolean {
  const isWhole = typeof value === "string" && value.length === 2 + 2 * ADDRESS_BYTES;
  return isWhole && decodeHexInto(value, out, at, ADDRESS_BYTES);
}

/** As decodeAddressInto. @param path - of the value, for messages. @throws RpcError INVALID_PARAMS */
export function requireAddressInto(value: unknown, path: string, out: Uint8Array, at: number): void {
  if (!decodeAddressInto(value, out, at)) throw createValueError(path, value, ADDRESS_EXPECTED);
}

/** Writes 32 bytes at `at`. @returns false if `value` is not a word, such as a storage key (WORD_EXPECTED) */
export function decodeWordInto(value: unknown, out: Uint8Array, at: number): boolean {
  return typeof value === "string" && decodeHexInto(value, out, at, WORD_BYTES);
}

/** As decodeWordInto. Ethereum's own methods take a word without digits as zero. */
export function decodeEthWordInto(value: unknown, out: Uint8Array, at: number): boolean {
  if (value !== "0x") return decodeWordInto(value, out, at);
  out.fill(0, at, at + WORD_BYTES);
  return true;
}
