/** Whether a failure that comes again and again was logged before: once is enough, though the head that it names has moved. */

/** Numbers and hashes, which geth also writes without 0x. A digit that follows a letter is part of a name. */
const NUMBERS = /0x[0-9a-f]+|\b[0-9a-f]{64}\b|\b\d+/gi;

export function isSameFailure(before: string, now: string): boolean {
  return before.replaceAll(NUMBERS, "#") === now.replaceAll(NUMBERS, "#");
}
