/**
 * Bytes as hexadecimal text, for messages and names, and compared. The text of proofs is written in workers/prove/.
 */
export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}

/** @param held - undefined: there are none */
export function isSame(held: Uint8Array | undefined, bytes: Uint8Array): boolean {
  return held !== undefined && Buffer.compare(held, bytes) === 0;
}
