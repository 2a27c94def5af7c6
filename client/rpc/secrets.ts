/** Removes keys in URLs and headers from texts: no log, message or file may contain one. */

/** Shorter parts of a URL, such as "rpc" or "v3", are not keys, and occur in ordinary words. */
const MIN_KEY_LENGTH = 8;
/** A password may be shorter, but so short a text occurs in many words. */
const MIN_CREDENTIAL_LENGTH = 4;

/** The Basic authorization of a URL with user or password. @throws URIError for a bad percent escape in them */
export function encodeAuthorization(url: URL): {authorization?: string} {
  if (url.username === "" && url.password === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(credentials)))}`};
}

/** @returns a function that replaces every key in a text by *** */
export function createRedaction(
  url: URL,
  headers: Readonly<Record<string, string>>,
): (text: string) => string {
  const keys = [...url.pathname.split("/"), ...[...url.searchParams].flat(), url.username];
  const values = [url.password, encodeAuthorization(url).authorization ?? "", ...Object.values(headers)];
  const credentials = values.flatMap(value => [value, ...value.split(" ")]);
  const secrets = new Set([
    ...withDecoded(keys).filter(({length}) => length >= MIN_KEY_LENGTH),
    ...withDecoded(credentials).filter(({length}) => length >= MIN_CREDENTIAL_LENGTH),
  ]);
  // The longest first: it may contain another.
  const ordered = [...secrets].sort((a, b) => b.length - a.length);
  return text => ordered.reduce((redacted, secret) => redacted.replaceAll(secret, "***"), text);
}

/** @returns scheme, host and port of the URL; the rest, which may contain keys, becomes *** */
export function redactUrl({origin, pathname, search}: URL): string {
  return pathname + search === "/" ? origin : `${origin}/***`;
}

/** Makes text of a node safe for logs. @param redact - removes keys. @param maxLength - in UTF-16 units */
export function cleanText(text: string, redact: (text: string) => string, maxLength: number): string {
  // Redacted before it is cut, or part of a key could remain. Control characters could fake lines of a log.
  const redacted = redact(text.slice(0, 10 * maxLength));
  return redacted
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim()
    .slice(0, maxLength);
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
