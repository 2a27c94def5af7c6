/** Words of 32 bytes, back to back, as calls have them (job/estimateCall.ts). */

export const WORD_BYTES = 32;

/** @returns views into `packed` */
export function splitWords(packed: Uint8Array): Uint8Array[] {
  const words: Uint8Array[] = [];
  for (let at = 0; at < packed.length; at += WORD_BYTES) words.push(packed.subarray(at, at + WORD_BYTES));
  return words;
}
