/** Parses values of flags and PROOFD_* variables. An invalid value is a usage error that says what is expected. */
import {isIP} from "node:net";
import {InvalidArgumentError} from "commander";
import {redactUrl} from "../../client/rpc/secrets.ts";
import type {History} from "../../storage/prune/retention.ts";

export const MAX_WORKERS = 256;
const MAX_BLOCK = 2 ** 48 - 1;
const NAME = /^[a-zA-Z][a-zA-Z0-9]{0,31}$/;
/** Prefixes of methods that have another meaning for clients, in lower case. */
const RESERVED: readonly string[] = ["chain", "eth", "proof", "net", "web3", "rpc", "rollup", "admin"];
const DECIMAL = /^[0-9]{1,18}(\.[0-9]{1,9})?$/;

export function integerParser(low: number, high: number): (text: string) => number {
  return text => {
    const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= low && value <= high) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${low} to ${high}.`);
  };
}

/** @returns a parser of numbers from `least` to `most`; `k` and `M` stand for thousands and millions */
export function countParser(least: number, most: number): (text: string) => number {
  return text => {
    const [, digits, unit] = /^([0-9]{1,9})([kM]?)$/.exec(text) ?? [];
    const count = Number(digits) * (unit === "k" ? 1e3 : unit === "M" ? 1e6 : 1);
    if (count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `Expected a whole number from ${least} to ${most}, such as 100, 1k or 1M, got '${text}'.`,
    );
  };
}

export function bigintParser(
  low: bigint,
  expected = `a whole number from ${low} to 2^256 - 1`,
): (text: string) => bigint {
  return text => {
    const value = /^([0-9]{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(text) ? BigInt(text) : -1n;
    if (value >= low && value < 2n ** 256n) return value;
    throw new InvalidArgumentError(`Expected ${expected}, decimal or 0x hex.`);
  };
}

/** @returns the text, so that the number stays exact */
export function parseDecimal(text: string): string {
  if (DECIMAL.test(text)) return text;
  throw new InvalidArgumentError("Expected a number such as 1.2, with at most 9 digits after the point.");
}

export function redactUrls(text: string): string {
  const urls = text.split(",").map(one => one.trim());
  return urls.map(one => (URL.canParse(one) ? redactUrl(new URL(one)) : "***")).join(",");
}

/** @returns undefined if the text is not an http or https URL */
export function readHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && hasReadableCredentials(url) ? url : undefined;
}

/** @returns a parser of comma-separated elements, which adds them to those of earlier flags */
export function listParser(
  parseOne: (text: string) => string,
): (text: string, earlier: readonly string[] | undefined) => readonly string[] {
  return (text, earlier) => [...(earlier ?? []), ...text.split(",").map(parseOne)];
}

export function parseHostName(text: string): string {
  if (text === "*" || /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(text)) return text;
  throw new InvalidArgumentError("Expected a host name without a port, such as proofd.example.org, or *.");
}

export function parseNetwork(text: string): string {
  const [address, bits, ...more] = text.split("/") as [string, ...string[]];
  const kind = isIP(address);
  const isBits = bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (kind === 6 ? 128 : 32));
  if (kind !== 0 && !address.includes("%") && more.length === 0 && isBits) return text;
  throw new InvalidArgumentError("Expected an address, or a network such as 10.0.0.0/8.");
}

export function parseOrigin(text: string): string {
  if (text === "*") return text;
  // URL has no origin for other schemes, such as those of browser extensions.
  const isWeb = /^https?:/i.test(text);
  const isOrigin = isWeb
    ? URL.canParse(text) && new URL(text).origin === text
    : /^[a-z][a-z0-9+.-]*:\/\/[\w.-]+$/.test(text);
  if (isOrigin) return text;
  throw new InvalidArgumentError(
    "Expected an origin as browsers send it, such as https://app.example.org, or *.",
  );
}

/** User name and password are percent-decoded later, so percent signs in them must be valid escapes. */
export function hasReadableCredentials(url: URL): boolean {
  try {
    decodeURIComponent(url.username + url.password);
    return true;
  } catch {
    return false;
  }
}

export function parseBlockNumber(text: string): number {
  const value = /^([0-9]{1,16}|0[xX][0-9a-fA-F]{1,12})$/.test(text) ? Number(text) : Number.NaN;
  if (value <= MAX_BLOCK) return value;
  throw new InvalidArgumentError("Expected a block number, decimal or 0x hex.");
}

/** A block number, or "last" for the last imported block. */
export function parseFinalized(text: string): number | "last" {
  return text === "last" ? "last" : parseBlockNumber(text);
}

export function parseHash(text: string): Uint8Array {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return new Uint8Array(Buffer.from(text.slice(2), "hex"));
  throw new InvalidArgumentError("Expected a hash: 0x and 64 hex digits.");
}

export function parseAddress(text: string): Uint8Array {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return new Uint8Array(Buffer.from(text.slice(2), "hex"));
  throw new InvalidArgumentError("Expected an address: 0x and 40 hex digits.");
}

/** `0x` and 40 digits, perhaps with `:whole`. @returns lower case */
export function parseSliced(text: string): string {
  if (/^0x[0-9a-f]{40}(:whole)?$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(
    "Expected addresses, each perhaps with :whole, such as 0x4200000000000000000000000000000000000016.",
  );
}

export const parseChainId = bigintParser(1n, "a chain id above 0");

export function parseText(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("Expected a non-empty value.");
}

export function parseHistory(text: string): History {
  if (text === "all" || text === "finalizations") return {kind: text};
  const blocks = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (blocks >= 1 && blocks <= MAX_BLOCK) return {kind: "newest", blocks};
  throw new InvalidArgumentError("Expected all, finalizations, or a number of blocks of at least 1.");
}

export function parseNamespace(text: string): string {
  if (!NAME.test(text))
    throw new InvalidArgumentError(
      "Expected up to 32 letters and digits, the first a letter, such as linea.",
    );
  if (RESERVED.includes(text.toLowerCase()))
    throw new InvalidArgumentError(`Expected another name than ${RESERVED.join(", ")}.`);
  return text;
}

export function parseMethodName(text: string): string {
  if (/^[a-zA-Z0-9]{1,32}_[a-zA-Z0-9_]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected names of methods, such as eth_sendRawTransaction.");
}

export function parseNatsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^(nats|tls):$/.test(url.protocol) && url.hostname !== "") return text;
  throw new InvalidArgumentError("Expected nats or tls URLs, such as nats://n1:4222.");
}

/** A subset of what NATS allows: JetStream uses the name as a folder. */
export function parseStreamName(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected 1 to 64 letters, digits, _ or -.");
}
