/**
 * What counts as one client: an IPv4 address, or an IPv6 network of 64 bits, since one client may use all its addresses.
 *
 * Behind a proxy, all requests come from one client, the proxy, unless its X-Forwarded-For is trusted (forwardedFor.ts).
 */
import {isIP} from "node:net";

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const IPV6_GROUPS = 8;
const NETWORK_BYTES = 8;
/** Start of ::ffff:a.b.c.d, which is an IPv4 address on a socket that listens on `::`. */
const MAPPED_PREFIX = Buffer.from("00000000000000000000ffff", "hex");

/** 4 or 16 bytes, or text as Node writes it. */
export type Address = ArrayBuffer | string;

export function clientOf(address: Address): string {
  const bytes = bytesOf(address);
  return (bytes.length === IPV6_BYTES ? bytes.subarray(0, NETWORK_BYTES) : bytes).toString("hex");
}

/** @returns the shortest form, and no zone */
export function addressText(address: Address): string {
  const bytes = bytesOf(address);
  if (bytes.length !== IPV6_BYTES) return bytes.join(".");
  const groups = bytes.toString("hex").match(/.{4}/g) as string[];
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** @param text - that isIP takes */
function parseAddress(text: string): Buffer {
  if (isIP(text) === 4) return Buffer.from(text.split(".").map(Number));
  // URL takes no zones, such as %eth0.
  const [high, low] = new URL(`http://[${text.split("%")[0]}]`).hostname.slice(1, -1).split("::");
  const [first, last] = [splitGroups(high), splitGroups(low)];
  const zeros = new Array<number>(IPV6_GROUPS - first.length - last.length).fill(0);
  return Buffer.from([...first, ...zeros, ...last].flatMap(group => [group >> 8, group & 0xff]));
}

function splitGroups(text = ""): number[] {
  return text === "" ? [] : text.split(":").map(group => Number.parseInt(group, 16));
}

/** An IPv4 address has 4 bytes, mapped or not. */
function bytesOf(address: Address): Buffer {
  const bytes = typeof address === "string" ? parseAddress(address) : Buffer.from(address);
  const isMapped =
    bytes.length === IPV6_BYTES && bytes.subarray(0, MAPPED_PREFIX.length).equals(MAPPED_PREFIX);
  return isMapped ? bytes.subarray(IPV6_BYTES - IPV4_BYTES) : bytes;
}
