/** A number of things, for messages: `1 byte`, `2 bytes`. */
export function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}
