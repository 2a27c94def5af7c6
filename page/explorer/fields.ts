/** Parses the form's fields as strictly as the service does. */
import {quantity} from "../../client/bytes/hex.ts";
import type {BlockName} from "../../client/methods/askedBlock.ts";

export interface Asked {
  readonly address: string;
  readonly storageKeys: readonly string[];
  readonly block: BlockName;
  /** 0x and 64 hex digits; undefined: the server's own root is used. */
  readonly root: string | undefined;
}

export type FieldName = "address" | "slots" | "block" | "root";

export class FieldProblem extends Error {
  constructor(
    readonly field: FieldName,
    expected: string,
    got: string,
  ) {
    super(`Expected ${expected}, got ${got === "" ? "nothing" : `“${got.slice(0, 80)}”`}.`);
  }
}

const MAX_SLOTS = 64;
const WORD_LIMIT = 2n ** 256n;

export function readFields(texts: Readonly<Record<FieldName, string>>): Asked {
  return {
    address: readHex("address", 40, texts.address.trim()),
    storageKeys: readSlots(texts.slots),
    block: readBlock(texts.block.trim()),
    root: texts.root.trim() === "" ? undefined : readHex("root", 64, texts.root.trim()),
  };
}

function readHex(field: FieldName, digits: number, text: string): string {
  if (/^0x[0-9a-f]+$/i.test(text) && text.length === 2 + digits) return text.toLowerCase();
  throw new FieldProblem(field, `0x and ${digits} hex digits`, text);
}

function readSlots(text: string): string[] {
  const slots = text.split(/[\s,]+/).filter(part => part !== "");
  if (slots.length > MAX_SLOTS)
    throw new FieldProblem("slots", `at most ${MAX_SLOTS} slots`, `${slots.length} slots`);
  return slots.map(slot => {
    if (/^0x[0-9a-f]{1,64}$/i.test(slot)) return slot.toLowerCase();
    if (/^\d{1,78}$/.test(slot) && BigInt(slot) < WORD_LIMIT) return quantity(BigInt(slot));
    throw new FieldProblem("slots", "0x and 1 to 64 hex digits, or a decimal number below 2^256", slot);
  });
}

function readBlock(text: string): BlockName {
  if (text === "finalized" || text === "safe" || text === "latest" || text === "earliest") return text;
  if (/^(\d{1,15}|0x[0-9a-f]{1,12})$/i.test(text)) return BigInt(text);
  throw new FieldProblem("block", "a block number, finalized or earliest", text);
}
