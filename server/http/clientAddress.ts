/**
 * Who shares: one IPv4 address, or one IPv6 network of 64 bits, of which a client may have every address.
 *
 * Behind a proxy it is the proxy for all. What X-Forwarded-For says is not asked: anybody can send one.
 */
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const NETWORK_BYTES = 8;
/** ::ffff:a.b.c.d, IPv4 on a socket that listens on ::. */
const MAPPED_PREFIX = Buffer.from("00000000000000000000ffff", "hex");

/** @param address - 4 or 16 bytes, as uWebSockets.js has it */
export function clientOf(address: ArrayBuffer): string {
  const bytes = Buffer.from(address);
  if (bytes.length !== IPV6_BYTES) return bytes.toString("hex");
  const isMapped = bytes.subarray(0, IPV6_BYTES - IPV4_BYTES).equals(MAPPED_PREFIX);
  return (isMapped ? bytes.subarray(IPV6_BYTES - IPV4_BYTES) : bytes.subarray(0, NETWORK_BYTES)).toString(
    "hex",
  );
}
