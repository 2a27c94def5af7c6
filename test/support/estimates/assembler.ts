/**
 * Makes EVM code from text, so that a test shows what its code does:
 *
 *   "PUSH1 3 again: PUSH1 1 SWAP1 SUB DUP1 PUSH1 again JUMPI STOP"
 *
 * A push is followed by its number, decimal or 0x, or by a label below byte 256. `label:` is a JUMPDEST with that name.
 */
import {encodeHex} from "../../../client/bytes/hex.ts";
import {OP, pushWidth} from "./bytecode.ts";

/** @returns 0x text. @throws Error for a word that it does not know */
export function codeOf(text: string): string {
  const words = text.split(/\s+/);
  const labels = placeLabels(words);
  const parts: Uint8Array[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    const width = pushedBytes(word);
    if (word.endsWith(":")) parts.push(Uint8Array.of(OP.JUMPDEST));
    else if (width === 0) parts.push(Uint8Array.of(opcodeOf(word)));
    else {
      const pushed = words[++i] as string;
      parts.push(pushWidth(BigInt(labels.get(pushed) ?? pushed), width));
    }
  }
  return encodeHex(Buffer.concat(parts));
}

function placeLabels(words: readonly string[]): Map<string, number> {
  const labels = new Map<string, number>();
  let at = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    const width = pushedBytes(word);
    if (word.endsWith(":")) labels.set(word.slice(0, -1), at);
    if (width > 0) i++;
    at += 1 + width;
  }
  return labels;
}

/** The number in the names PUSH1 to PUSH32; 0 for all other words. */
function pushedBytes(word: string): number {
  return Number(/^PUSH([1-9]\d?)$/.exec(word)?.[1] ?? 0);
}

function opcodeOf(word: string): number {
  const opcode = (OP as Readonly<Record<string, number>>)[word];
  if (opcode === undefined) throw new Error(`no opcode ${word} in bytecode.ts`);
  return opcode;
}
