/** Removes keys in URLs and headers from texts: no log, message or file may contain one. */

/** Shorter parts of a URL, such as "rpc" or "v3", are not keys, and occur in ordinary words. */
const MIN_KEY_LENGTH = 8;
/** A password may be shorter. */
const MIN_CREDENTIAL_LENGTH = 4;
/** Shorter user names and passwords occur in ordinary words, so they are redacted only where no letter is beside them. */
const LETTER = "[\\p{L}\\p{N}_]";

/** The Basic authorization of a URL with user or password. @throws URIError for a bad percent escape in them */
export function encodeAuthorization(url: URL): {authorization?: string} {
  if (url.username === "" && url.password === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(credentials)))}`};
}

/** @returns a function that replaces every key, user name and password in a text by *** */
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
  const words = withDecoded([url.username, url.password]).filter(word => word !== "" && !secrets.has(word));
  // The longest first: it may contain another.
  const patterns = [
    ...[...secrets].sort(byLength).map(secret => escapePattern(secret)),
    ...words.sort(byLength).map(word => `(?<!${LETTER})${escapePattern(word)}(?!${LETTER})`),
  ];
  const ordered = patterns.map(pattern => new RegExp(pattern, "gu"));
  return text => ordered.reduce((redacted, pattern) => redacted.replace(pattern, "***"), text);
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

function byLength(a: string, b: string): number {
  return b.length - a.length;
}

/** @returns a regular expression that matches this text */
function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
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
