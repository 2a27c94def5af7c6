/** Text that a node may have written, made fit for logs: without keys, on one line, and not long. */

/** @param redact - removes keys (secrets.ts). @param maxLength - in UTF-16 units */
export function cleanText(text: string, redact: (text: string) => string, maxLength: number): string {
  // Redacted first: a key that is cut in two would not be found.
  return printable(redact(text.slice(0, 10 * maxLength))).slice(0, maxLength);
}

/** Line breaks and other control characters would fake lines of a log. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
}
