/**
 * Bytes as map keys: one character per byte, the cheapest string that Node makes of bytes.
 */
export type ByteKey = string;

export function toKey(bytes: Uint8Array): ByteKey {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

export function fromKey(key: ByteKey): Uint8Array {
  return new Uint8Array(Buffer.from(key, "latin1"));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
