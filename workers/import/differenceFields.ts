/**
 * The accounts of a block difference line, from JSON (docs/importing.md). Errors name the field and what is expected.
 */

import {parseBytes, parseObject, parseQuantity, parseWord, unexpected} from "../../nodes/rpc/answerValues.ts";
import type {AccountChange, SlotDifference} from "../../storage/block/accountDifference.ts";
import {SourceError} from "./sourceStep.ts";

const ACCOUNT_FIELDS = new Set(["nonce", "balance", "code", "storage", "reset"]);

/** @param field - names the account in messages. @returns undefined: the account is deleted */
export function parseAccountChange(value: unknown, field: string): AccountChange | undefined {
  if (value === null) return undefined;
  const fields = parseObject(value, field);
  for (const name of Object.keys(fields))
    if (!ACCOUNT_FIELDS.has(name))
      throw new SourceError(
        `${field}: expected the fields ${[...ACCOUNT_FIELDS].join(", ")}, got ${JSON.stringify(name)}`,
      );
  const {nonce, balance, code, storage, reset} = fields;
  if (reset !== undefined && typeof reset !== "boolean")
    throw unexpected(`${field}.reset`, reset, "true or false");
  return {
    reset: reset === true,
    nonce: nonce === undefined ? undefined : parseQuantity(nonce, `${field}.nonce`, 64),
    balance: balance === undefined ? undefined : parseQuantity(balance, `${field}.balance`, 256),
    code: code === undefined ? undefined : parseBytes(code, `${field}.code`),
    storage: storage === undefined ? undefined : parseStorage(storage, `${field}.storage`),
  };
}

function parseStorage(value: unknown, field: string): SlotDifference[] {
  return Object.entries(parseObject(value, field)).map(([slot, word]) => ({
    slot: parseWordBytes(slot, `a slot of ${field}`),
    value: parseWordBytes(word, `${field}[${slot}]`),
  }));
}

/** `0x` and 1 to 64 hex digits, as 32 bytes. */
function parseWordBytes(value: unknown, field: string): Buffer {
  return Buffer.from(parseWord(value, field).slice(2), "hex");
}
