/** The parts of a node's settings that may be keys. A node that repeats one in an error must not bring it into a log. */

import {encodeAuthorization} from "./authorization.ts";

/** Shorter parts of a URL, such as "rpc" or "v3", are no keys. Replacing them would spoil ordinary words. */
const MIN_KEY_LENGTH = 8;
/** A password may be shorter, but so short a text stands in many words. */
const MIN_CREDENTIAL_LENGTH = 4;

/** @returns a function that replaces every key in a text by *** */
export function createRedaction(
  url: URL,
  headers: Readonly<Record<string, string>>,
): (text: string) => string {
  const keys = [...url.pathname.split("/"), ...[...url.searchParams].flat(), url.username];
  const values = [url.password, encodeAuthorization(url) ?? "", ...Object.values(headers)];
  const credentials = values.flatMap(value => [value, ...value.split(" ")]);
  const secrets = new Set([
    ...withDecoded(keys).filter(({length}) => length >= MIN_KEY_LENGTH),
    ...withDecoded(credentials).filter(({length}) => length >= MIN_CREDENTIAL_LENGTH),
  ]);
  // The longest first: it may contain another.
  const ordered = [...secrets].sort((a, b) => b.length - a.length);
  return text => ordered.reduce((redacted, secret) => redacted.replaceAll(secret, "***"), text);
}

function withDecoded(parts: readonly string[]): string[] {
  return parts.flatMap(part => [part, decode(part)]);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
