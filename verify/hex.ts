/** Hex text with `0x` in the verifier: it accepts only strict text, and writes lower case. */

/** @returns `0x` and two lower-case digits per byte */
export function encodeHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}

/** @throws Error unless `text` is `0x` and whole bytes in lower case, as an answer must have it */
export function decodeHex(text: unknown): Uint8Array {
  // Node's hex decoder stops at the first bad digit without an error, so the text is checked first.
  if (typeof text !== "string" || !/^0x(?:[0-9a-f]{2})*$/.test(text))
    throw new Error("not lower-case 0x hex of whole bytes");
  return new Uint8Array(Buffer.from(text.slice(2), "hex"));
}

/** @returns `0x` and hex digits, no leading zeros */
export function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
