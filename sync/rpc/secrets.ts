/** The parts of a node's settings that may be keys. A node that repeats one in an error must not bring it into a log. */

/** Shorter parts, such as "rpc" or "v3", are no keys, and would be cut out of ordinary words. */
const MIN_LENGTH = 8;

/** @returns a function that replaces every key in a text by *** */
export function createRedaction(
  url: URL,
  headers: Readonly<Record<string, string>>,
): (text: string) => string {
  const parts = [
    ...url.pathname.split("/"),
    ...[...url.searchParams].flat(),
    url.username,
    url.password,
    ...Object.values(headers).flatMap(value => [value, ...value.split(" ")]),
  ];
  const secrets = new Set(
    parts.flatMap(part => [part, decode(part)]).filter(part => part.length >= MIN_LENGTH),
  );
  // The longest first: it may contain another.
  const ordered = [...secrets].sort((a, b) => b.length - a.length);
  return text => ordered.reduce((redacted, secret) => redacted.replaceAll(secret, "***"), text);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
