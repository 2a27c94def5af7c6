/**
 * What counts as one client: an IPv4 address, or an IPv6 network of 64 bits, since one client may use all its addresses.
 *
 * Behind a proxy, all requests come from one client, the proxy. X-Forwarded-For is ignored, because anybody can send it.
 */
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const NETWORK_BYTES = 8;
/** Start of ::ffff:a.b.c.d, which is an IPv4 address on a socket that listens on `::`. */
const MAPPED_PREFIX = Buffer.from("00000000000000000000ffff", "hex");

/** @param address - 4 or 16 bytes, from uWebSockets.js */
export function clientOf(address: ArrayBuffer): string {
  const bytes = Buffer.from(address);
  if (bytes.length !== IPV6_BYTES) return bytes.toString("hex");
  const isMapped = bytes.subarray(0, IPV6_BYTES - IPV4_BYTES).equals(MAPPED_PREFIX);
  return (isMapped ? bytes.subarray(IPV6_BYTES - IPV4_BYTES) : bytes.subarray(0, NETWORK_BYTES)).toString(
    "hex",
  );
}
