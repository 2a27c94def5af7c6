/**
 * The number of JSON values in a text, known before any of them is made.
 *
 * Parsing makes an object of 60 to 250 bytes out of the three bytes `{},`. So 33 MB of them, which is no more than 1 000 proofs
 * may have, would take 2.8 GB. An honest answer has at least 60 bytes for each value.
 */

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/**
 * Counts what begins a value: commas, brackets and braces outside of strings. The text need not be JSON.
 *
 * @returns whether there are more than `most`. Stops there
 */
export function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findStringEnd(bytes, at + 1);
    else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++count > most) return true;
  }
  return false;
}

/** @returns where the string's closing quote is, or the end of the bytes. Proofs are long strings, so they are searched, not read */
function findStringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; ; at++) {
    at = bytes.indexOf(QUOTE, at);
    if (at === -1) return bytes.length;
    let first = at;
    while (first > start && bytes[first - 1] === BACKSLASH) first--;
    // An even number of backslashes are characters of their own.
    if ((at - first) % 2 === 0) return at;
  }
}
