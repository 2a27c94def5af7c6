/** Words back to back, as calls of chain_estimateGas have them (workers/messages/estimateCall.ts). */

export function packWords(words: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(words.flatMap(word => [...word]));
}
