/** Bytes as map keys: one character per byte, the string that Node creates fastest. */
export type ByteKey = string;

/** Shared: a new Buffer for each key would take twice as long. */
const scratch = Buffer.alloc(32);

/** @param bytes - at most 32 */
export function toKey(bytes: Uint8Array): ByteKey {
  scratch.set(bytes);
  return scratch.toString("latin1", 0, bytes.length);
}
