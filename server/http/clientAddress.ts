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

/** @param address - 4 or 16 bytes, or text */
export function clientOf(address: ArrayBuffer | string): string {
  const bytes = typeof address === "string" ? parseAddress(address) : Buffer.from(address);
  if (bytes.length !== IPV6_BYTES) return bytes.toString("hex");
  const isMapped = bytes.subarray(0, IPV6_BYTES - IPV4_BYTES).equals(MAPPED_PREFIX);
  return (isMapped ? bytes.subarray(IPV6_BYTES - IPV4_BYTES) : bytes.subarray(0, NETWORK_BYTES)).toString(
    "hex",
  );
}

/** @param text - as Node writes addresses, such as "10.0.0.1", "::ffff:10.0.0.1" or "fe80::1%eth0" */
function parseAddress(text: string): Buffer {
  const dotted = text.lastIndexOf(":") + 1;
  if (text.includes(".")) {
    const last = Buffer.from(text.slice(dotted).split(".").map(Number));
    return dotted === 0 ? last : Buffer.concat([MAPPED_PREFIX, last]);
  }
  const [before = "", after] = (text.split("%")[0] as string).split("::");
  const bytes = Buffer.alloc(IPV6_BYTES);
  const put = (groups: readonly string[], from: number) =>
    groups.forEach((group, at) => {
      bytes.writeUInt16BE(Number.parseInt(group, 16), from + 2 * at);
    });
  const ends = after === undefined || after === "" ? [] : after.split(":");
  put(before === "" ? [] : before.split(":"), 0);
  put(ends, IPV6_BYTES - 2 * ends.length);
  return bytes;
}
