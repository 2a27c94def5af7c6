/**
 * The answer of debug_traceBlockByNumber with prestateTracer in diffMode.
 *
 *   [{"txHash": "0x..", "result": {"pre": {"0xaddress": account}, "post": {"0xaddress": account}}}, ...]
 *   account = {"balance": "0x2", "nonce": 1, "code": "0x..", "storage": {"0xslot": "0xvalue"}}
 *
 * `pre` has the accounts that changed, as they were; fields that are zero or empty are left out. Accounts that the transaction
 * made are left out too. `post` has the fields that changed. An account that is only in `pre` was removed. A slot that is only in
 * `pre` is zero now. Older geth also had slots there that were only read, so such a slot is read back.
 */

import {
  type JsonObject,
  parseAddress,
  parseArray,
  parseBytes,
  parseObject,
  parseQuantity,
  parseWord,
} from "../../rpc/answerValues.ts";
import {NodeFailure} from "../../rpc/node.ts";
import {
  type AccountTrace,
  type AccountView,
  isEmpty,
  MAX_CODE_BYTES,
  type TransactionTrace,
} from "./accountTrace.ts";

/** The time is that of one transaction. geth's default is 5 s, and it ends the whole request after 30 s. */
export const PRESTATE_OPTIONS = {
  tracer: "prestateTracer",
  tracerConfig: {diffMode: true},
  timeout: "30s",
} as const;

/** The same tracer: all that transactions touched, as it was before them. Code is left out. */
export const TOUCHED_OPTIONS = {
  ...PRESTATE_OPTIONS,
  tracerConfig: {includeEmpty: true, disableCode: true},
} as const;

/** @param where - names the answer in messages. @throws NodeFailure */
export function parsePrestateTraces(answer: unknown, where: string): TransactionTrace[] {
  return parseResults(answer, where).map(({txHash, result, name}) => {
    const {pre, post} = result;
    return {
      hash: (txHash ?? undefined) === undefined ? undefined : parseWord(txHash, `${name}: txHash`),
      accounts: joinAccounts(parseAccounts(pre, `${name}: pre`), parseAccounts(post, `${name}: post`), name),
    };
  });
}

/** Of an answer to TOUCHED_OPTIONS: slots by account. @throws NodeFailure */
export function parseTouched(answer: unknown, where: string): (readonly [string, readonly string[]])[] {
  return parseResults(answer, where).flatMap(({result, name}) =>
    [...parseAccounts(result, name)].map(([address, {storage}]) => {
      const slots = parseSlots(storage, `${name}, ${address}`);
      return [address, [...slots.keys()]] as const;
    }),
  );
}

function parseResults(
  answer: unknown,
  where: string,
): {readonly txHash: unknown; readonly result: JsonObject; readonly name: string}[] {
  return parseArray(answer, where).map((entry, position) => {
    const name = `${where}, transaction ${position}`;
    const {txHash, result, error} = parseObject(entry, name);
    if ((result ?? undefined) === undefined && (error ?? undefined) !== undefined)
      throw new NodeFailure(
        `${name}: the node could not trace it: ${typeof error === "string" ? error.slice(0, 200) : "error"}`,
      );
    return {txHash, result: parseObject(result, `${name}: result`), name};
  });
}

/** @param value - of accounts by address; null: of none */
function parseAccounts(value: unknown, field: string): Map<string, JsonObject> {
  return new Map(
    Object.entries(parseObject(value === null ? {} : value, field)).map(([address, account]) => {
      const key = parseAddress(address, `an address of ${field}`);
      return [key, parseObject(account, `${field}, ${key}`)];
    }),
  );
}

function joinAccounts(
  pre: ReadonlyMap<string, JsonObject>,
  post: ReadonlyMap<string, JsonObject>,
  name: string,
): Map<string, AccountTrace> {
  const joined = new Map<string, AccountTrace>();
  for (const address of new Set([...pre.keys(), ...post.keys()])) {
    const before = pre.get(address);
    const after = post.get(address);
    const slots = new Map<string, string | undefined>();
    for (const slot of parseSlots(before?.storage, `${name}: pre, ${address}`).keys())
      slots.set(slot, undefined);
    for (const [slot, value] of parseSlots(after?.storage, `${name}: post, ${address}`))
      slots.set(slot, value);
    joined.set(address, {
      before: before === undefined ? "unseen" : parseBefore(before, `${name}: pre, ${address}`),
      after: after === undefined ? "gone" : parseView(after, `${name}: post, ${address}`),
      slots,
    });
  }
  return joined;
}

function parseBefore(account: JsonObject, field: string): AccountView | "absent" {
  const {nonce = 0n, balance = 0n, code = new Uint8Array(0)} = parseView(account, field);
  return isEmpty({nonce, balance, code}) ? "absent" : {nonce, balance, code};
}

function parseView({nonce, balance, code}: JsonObject, field: string): AccountView {
  return {
    nonce: (nonce ?? undefined) === undefined ? undefined : parseQuantity(nonce, `${field}: nonce`, 64),
    balance:
      (balance ?? undefined) === undefined ? undefined : parseQuantity(balance, `${field}: balance`, 256),
    code: (code ?? undefined) === undefined ? undefined : parseBytes(code, `${field}: code`, MAX_CODE_BYTES),
  };
}

function parseSlots(value: unknown, field: string): Map<string, string> {
  if ((value ?? undefined) === undefined) return new Map();
  return new Map(
    Object.entries(parseObject(value, `${field}: storage`)).map(([slot, word]) => [
      parseWord(slot, `${field}: a slot`),
      parseWord(word, `${field}: slot ${slot.slice(0, 66)}`),
    ]),
  );
}
