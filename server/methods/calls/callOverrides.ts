/**
 * Parses the state overrides of a call: values that replace those of accounts, keyed by address.
 *
 *   {"0x..20 bytes": {balance, nonce, code, state | stateDiff: {"0x..slot": "0x..value"}}}
 *
 * An unknown field, such as movePrecompileToAddress, is refused: without it the answer would be wrong.
 */
import type {AccountOverride} from "../../../workers/messages/estimateCall.ts";
import type {Work} from "../../fairness/work.ts";
import {createParamsError, createValueError} from "../../rpc/rpcError.ts";
import {ADDRESS_BYTES, decodeWordInto, requireAddressInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";
import {
  type Fields,
  PART_ENTRIES,
  parseBytes,
  parseFields,
  parseNonce,
  parseWei,
  readField,
} from "./callValues.ts";

const FIELDS: ReadonlySet<string> = new Set(["balance", "nonce", "code", "state", "stateDiff"]);
const EXPECTED = "{balance, nonce, code, state or stateDiff}";
/** EIP-170: no account can have more. Longer code would take seconds to analyse before its first opcode. */
const MAX_CODE_BYTES = 24_576;

type Account = {-readonly [field in keyof AccountOverride]: AccountOverride[field]};

/** @param path - of the parameter, `params[1]` or `params[2]` */
export function* parseOverrides(overrides: unknown, path: string): Work<AccountOverride[]> {
  const accounts = parseFields(overrides, `${path} (overrides)`, "an object keyed by address");
  const keys = Object.keys(accounts);
  const keyPath = `${path} (overrides): a key`;
  // Views into one buffer, which is sent to the worker once.
  const addresses = new Uint8Array(keys.length * ADDRESS_BYTES);
  const parsed: AccountOverride[] = [];
  for (const [index, key] of keys.entries()) {
    if (index % PART_ENTRIES === PART_ENTRIES - 1) yield;
    const at = index * ADDRESS_BYTES;
    requireAddressInto(key, keyPath, addresses, at);
    const address = addresses.subarray(at, at + ADDRESS_BYTES);
    parsed.push(parseAccount(address, readField(accounts, key), `${path}["${key}"]`));
  }
  return parsed;
}

/** Hot: a call may have ten thousand accounts. So each field is set directly, not spread from an object of its own. */
function parseAccount(address: Uint8Array, account: unknown, path: string): AccountOverride {
  const parsed: Account = {address};
  if (account === undefined) return parsed;
  const fields = parseFields(account, path, EXPECTED);
  for (const name of Object.keys(fields)) {
    if (FIELDS.has(name) || readField(fields, name) === undefined) continue;
    throw createValueError(path, name, `only the fields ${EXPECTED}`);
  }
  const balance = readField(fields, "balance");
  if (balance !== undefined) parsed.balance = parseWei(balance, `${path}.balance`);
  const nonce = readField(fields, "nonce");
  if (nonce !== undefined) parsed.nonce = parseNonce(nonce, `${path}.nonce`);
  const code = readField(fields, "code");
  if (code !== undefined) parsed.code = parseCode(code, `${path}.code`);
  parseStorageInto(parsed, fields, path);
  return parsed;
}

function parseCode(code: unknown, path: string): Uint8Array {
  const bytes = typeof code === "string" ? Math.ceil((code.length - 2) / 2) : 0;
  if (bytes <= MAX_CODE_BYTES) return parseBytes(code, path);
  throw createParamsError(`${path}: expected at most ${MAX_CODE_BYTES} bytes (EIP-170), got ${bytes}`);
}

function parseStorageInto(parsed: Account, fields: Fields, path: string): void {
  const state = readField(fields, "state");
  const stateDiff = readField(fields, "stateDiff");
  if (state !== undefined && stateDiff !== undefined)
    throw createParamsError(`${path}: expected state or stateDiff, got both`);
  if (state !== undefined) {
    parsed.slots = parseSlots(state, `${path}.state`);
    parsed.replacesStorage = true;
  } else if (stateDiff !== undefined) {
    parsed.slots = parseSlots(stateDiff, `${path}.stateDiff`);
    parsed.replacesStorage = false;
  }
}

/** @returns 64 bytes for each slot: its key and its value */
function parseSlots(slots: unknown, path: string): Uint8Array {
  const values = parseFields(slots, path, "an object of slots and their values");
  const keys = Object.keys(values);
  const words = new Uint8Array(keys.length * 2 * WORD_BYTES);
  let at = 0;
  for (const key of keys) {
    if (!decodeWordInto(key, words, at)) throw createValueError(`${path}: a key`, key, WORD_EXPECTED);
    const value = values[key];
    if (!decodeWordInto(value, words, at + WORD_BYTES))
      throw createValueError(`${path}[${JSON.stringify(key)}]`, value, WORD_EXPECTED);
    at += 2 * WORD_BYTES;
  }
  return words;
}
