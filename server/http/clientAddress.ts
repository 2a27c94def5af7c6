/**
 * What counts as one client: an IPv4 address, or an IPv6 network of 64 bits, or of 48 bits if many such networks of it
 * come: providers give a customer one. A proxy is one client, unless X-Forwarded-For is trusted.
 */
import {isIP} from "node:net";

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const IPV6_GROUPS = 8;
const NETWORK_BYTES = 8;
const SITE_BYTES = 6;
const MANY_NETWORKS = 16;
const SEEN_MS = 60_000;
/** More sites than this are forgotten sooner. */
const MOST_SITES = 10_000;
/** Of ::ffff:a.b.c.d, an IPv4 address on a socket that listens on `::`. */
const MAPPED_PREFIX = Buffer.from("00000000000000000000ffff", "hex");

/** 4 or 16 bytes, or text as Node writes it. */
export type Address = ArrayBuffer | Buffer | string;

export class Clients {
  /** Up to MANY_NETWORKS networks of 64 bits, by their 48 bits. */
  private seen = new Map<string, Set<string>>();
  private seenBefore: typeof this.seen = new Map();
  private seenSinceMs = 0;

  of(address: Address): string {
    const bytes = bytesOf(address);
    if (bytes.length !== IPV6_BYTES) return bytes.toString("hex");
    const site = bytes.toString("hex", 0, SITE_BYTES);
    const network = bytes.toString("hex", 0, NETWORK_BYTES);
    return this.isSpread(site, network) ? site : network;
  }

  private isSpread(site: string, network: string): boolean {
    const nowMs = performance.now();
    if (nowMs - this.seenSinceMs > SEEN_MS || this.seen.size > MOST_SITES) {
      this.seenBefore = this.seen;
      this.seen = new Map();
      this.seenSinceMs = nowMs;
    }
    let networks = this.seen.get(site);
    if (networks === undefined) {
      networks = new Set();
      this.seen.set(site, networks);
    }
    if (networks.size < MANY_NETWORKS) networks.add(network);
    return [networks, this.seenBefore.get(site)].some(one => one?.size === MANY_NETWORKS);
  }
}

/** @returns the shortest form, without a zone */
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
  const bytes = typeof address === "string" ? parseAddress(address) : Buffer.from(address as ArrayBuffer);
  const isMapped =
    bytes.length === IPV6_BYTES && bytes.subarray(0, MAPPED_PREFIX.length).equals(MAPPED_PREFIX);
  return isMapped ? bytes.subarray(IPV6_BYTES - IPV4_BYTES) : bytes;
}
