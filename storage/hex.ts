/**
 * Hexadecimal text of bytes, for messages and names. Proofs are written by workers/prove/.
 */
export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}
