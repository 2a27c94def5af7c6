/**
 * The size of a transaction after compression, as layer 1 is paid for it: sender, then the unsigned transaction.
 *
 * DEFLATE with a preset dictionary stands in for the network's own compressor, which has seen many transactions before
 * this one; so has the dictionary. Where it does not help, the raw size counts.
 */
import {constants, deflateRawSync} from "node:zlib";
import {DICTIONARY} from "./dictionary.ts";

/** The window holds the dictionary and most transactions; a larger one only costs time. */
const WINDOW_BITS = 13;
const OPTIONS = {
  level: constants.Z_BEST_COMPRESSION,
  windowBits: WINDOW_BITS,
  dictionary: DICTIONARY,
};

/**
 * @param sender - 20 bytes
 * @param unsigned - as `encodeUnsigned` makes it
 * @returns bytes
 */
export function compressedSize(sender: Uint8Array, unsigned: Uint8Array): number {
  const raw = Buffer.concat([sender, unsigned]);
  return Math.min(raw.length, deflateRawSync(raw, OPTIONS).length);
}
