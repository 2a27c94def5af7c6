/**
 * State overrides of chain_estimateGas: what accounts are taken to be instead, keyed by address.
 *
 *   {"0x..20 bytes": {balance, nonce, code, state | stateDiff: {"0x..slot": "0x..value"}}}
 *
 * A field that is not known is refused here, though not in the call itself: an override that is not applied
 * (movePrecompileToAddress, say) makes the answer wrong.
 */
import type {AccountOverride} from "../../workers/job.ts";
import {
  decodeWordInto,
  type Fields,
  parseAddress,
  parseBytes,
  parseField,
  parseFields,
  parseNonce,
  parseWei,
  readField,
  refuse,
  WORD_BYTES,
  WORD_EXPECTED,
} from "./callValues.ts";
import {RpcCode, RpcError} from "./rpcError.ts";
import {shorten} from "./shorten.ts";

const FIELDS: ReadonlySet<string> = new Set(["balance", "nonce", "code", "state", "stateDiff"]);
const EXPECTED = "{balance, nonce, code, state or stateDiff}";

const LEADING_ZEROS = /^0[xX]0*/;

type Slot = readonly [Uint8Array, Uint8Array];

/** @param path - of the parameter, `params[1]` or `params[2]` */
export function parseOverrides(overrides: unknown, path: string): AccountOverride[] {
  const accounts = parseFields(overrides, `${path} (overrides)`, "an object keyed by address");
  const seen = new Set<string>();
  return Object.keys(accounts).map(key => {
    const address = parseAddress(key, `${path} (overrides): a key`);
    requireNew(seen, key, `${path} (overrides)`);
    return {address, ...parseAccount(readField(accounts, key), `${path}[${JSON.stringify(key)}]`)};
  });
}

function parseAccount(account: unknown, path: string): Omit<AccountOverride, "address"> {
  if (account === undefined) return {};
  const fields = parseFields(account, path, EXPECTED);
  for (const name of Object.keys(fields)) {
    if (FIELDS.has(name) || readField(fields, name) === undefined) continue;
    const message = `${path} has the field ${shorten(name)}, which is not supported: expected ${EXPECTED}`;
    throw new RpcError(RpcCode.INVALID_PARAMS, message);
  }
  return {
    ...parseField(fields, "balance", path, parseWei),
    ...parseField(fields, "nonce", path, parseNonce),
    ...parseField(fields, "code", path, parseBytes),
    ...parseStorage(fields, path),
  };
}

function parseStorage(fields: Fields, path: string): Pick<AccountOverride, "slots" | "replacesStorage"> {
  const state = readField(fields, "state");
  const stateDiff = readField(fields, "stateDiff");
  if (state !== undefined && stateDiff !== undefined) {
    throw new RpcError(RpcCode.INVALID_PARAMS, `${path} has both state and stateDiff: expected one of them`);
  }
  if (state !== undefined) return {slots: parseSlots(state, `${path}.state`), replacesStorage: true};
  if (stateDiff === undefined) return {};
  return {slots: parseSlots(stateDiff, `${path}.stateDiff`), replacesStorage: false};
}

function parseSlots(slots: unknown, path: string): Slot[] {
  const values = parseFields(slots, path, "an object of slots and their values");
  const keys = Object.keys(values);
  // One buffer: it crosses to the worker as one, and many slots as fast as their bytes are copied.
  const words = new Uint8Array(keys.length * 2 * WORD_BYTES);
  const seen = new Set<string>();
  return keys.map((key, index) => {
    const at = index * 2 * WORD_BYTES;
    const slot = decodeWordInto(key, words, at);
    if (slot === undefined) throw refuse(`${path}: a key`, key, WORD_EXPECTED);
    requireNew(seen, key, path);
    const value = decodeWordInto(values[key], words, at + WORD_BYTES);
    if (value === undefined) throw refuse(`${path}[${JSON.stringify(key)}]`, values[key], WORD_EXPECTED);
    return [slot, value];
  });
}

/** One object may hold an address or a slot in two spellings: which of them is meant nobody knows. */
function requireNew(seen: Set<string>, key: string, path: string): void {
  // Not padded to one length: that took 0.6 s for 330 000 slots (a body of 5 MiB) instead of 0.15.
  const digits = key.replace(LEADING_ZEROS, "").toLowerCase();
  if (seen.has(digits)) {
    throw new RpcError(RpcCode.INVALID_PARAMS, `${path} has ${shorten(key)} twice: expected it once`);
  }
  seen.add(digits);
}
