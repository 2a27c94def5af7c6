/**
 * Bytes as hexadecimal text, for messages and names. The text of proofs is written in workers/prove/.
 */
export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}
