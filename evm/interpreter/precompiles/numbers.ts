/** Big-endian numbers in the inputs and outputs of precompiles. */

/** Reads as if zeros followed the end of `data`. */
export function readNumber(data: Uint8Array, at: number | bigint, bytes: number): bigint {
  const start = at > data.length ? data.length : Number(at);
  const there = data.subarray(start, start + bytes);
  if (there.length === 0) return 0n;
  const text = Buffer.from(there.buffer, there.byteOffset, there.length).toString("hex");
  return BigInt(`0x${text}`) << BigInt(8 * (bytes - there.length));
}

export function encodeNumber(value: bigint, bytes: number): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(2 * bytes, "0"), "hex"));
}
