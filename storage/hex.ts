/** Bytes as hexadecimal text, for messages and names, and comparison of bytes. */
export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}

/** @param text - 0x and pairs of hex digits */
export function fromHex(text: string): Buffer {
  return Buffer.from(text.slice(2), "hex");
}

/** @returns false also if `a` is undefined */
export function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
