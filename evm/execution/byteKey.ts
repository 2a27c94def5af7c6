/**
 * Bytes as map keys: one character per byte, the cheapest string that Node makes of bytes.
 */
export type ByteKey = string;

/** A Buffer of its own for each key would take twice as long. */
const scratch = Buffer.alloc(32);

/** @param bytes - at most 32 */
export function toKey(bytes: Uint8Array): ByteKey {
  scratch.set(bytes);
  return scratch.toString("latin1", 0, bytes.length);
}
