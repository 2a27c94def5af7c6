/**
 * Finds the client of a request that came through proxies (--trust-forwarded). Each proxy appends its client's address
 * to X-Forwarded-For. So the list is read from its end, as long as the address that appended the entry is trusted:
 *
 *   X-Forwarded-For: 9.9.9.9, 203.0.113.7, 10.0.0.2      connection from 10.0.0.1      trusted: 10.0.0.0/8
 *                    ^ anybody may  ^ the client  ^ proxy
 *                      have written it
 */
import {BlockList, isIP} from "node:net";
import {type Address, addressText} from "./clientAddress.ts";

const HEADER = "x-forwarded-for";
const MAX_PROXIES = 16;

export class TrustedProxies {
  private readonly trusted = new BlockList();

  /** @param networks - addresses, and networks such as 10.0.0.0/8 */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address, bits] = network.split("/") as [string, string | undefined];
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      if (bits === undefined) this.trusted.addAddress(address, family);
      else this.trusted.addSubnet(address, Number(bits), family);
    }
  }

  /**
   * @param headers - one may come on several lines
   * @returns the client's address; undefined: the connection's own, or the proxy does not say
   */
  findClient(
    connection: {getRemoteAddress(): Address},
    headers: {forEach(take: (name: string, value: string) => void): void},
  ): string | undefined {
    if (!this.isTrusted(connection.getRemoteAddress())) return undefined;
    const entries: string[] = [];
    headers.forEach((name, value) => {
      if (name === HEADER) entries.push(...value.split(","));
    });
    let client: string | undefined;
    for (const entry of entries.reverse().slice(0, MAX_PROXIES)) {
      const address = entry.trim();
      if (isIP(address) === 0) return client;
      client = address;
      if (!this.isTrusted(address)) return client;
    }
    return client;
  }

  isTrusted(address: Address): boolean {
    const text = addressText(address);
    return this.trusted.check(text, isIP(text) === 6 ? "ipv6" : "ipv4");
  }
}
