/**
 * Responses of debug_traceBlockByNumber with prestateTracer in diffMode.
 *
 *   [{"txHash": "0x..", "result": {"pre": {"0xaddress": account}, "post": {"0xaddress": account}}}, ...]
 *   account = {"balance": "0x2", "nonce": 1, "code": "0x..", "codeHash": "0x..", "storage": {"0xslot": "0xvalue"}}
 *
 * `pre` has the changed accounts before the transaction, without zero or empty fields, and without accounts that the
 * transaction created. `post` has the changed fields. An account that is only in `pre` was removed. A slot that is only
 * in `pre` is zero now. Older geth also had slots there that were only read, so the values of such slots are requested.
 */
import {
  type JsonObject,
  optional,
  parseAddress,
  parseArray,
  parseBytes,
  parseObject,
  parseQuantity,
  parseWord,
} from "../../rpc/answerValues.ts";
import {NodeFailure, NodeRefusal, orRefusal} from "../../rpc/node.ts";
import {
  type AccountTrace,
  type AccountView,
  isEmpty,
  MAX_CODE_BYTES,
  type TransactionTrace,
} from "./accountTrace.ts";

/** The timeout is for one transaction. geth's default is 5 s, and it limits the whole request to 30 s. */
export const PRESTATE_OPTIONS = {
  tracer: "prestateTracer",
  tracerConfig: {diffMode: true},
  timeout: "30s",
} as const;

/** Code makes up most of a response. Without it, code hashes show which accounts have code, and whose code changed. */
export const MINIMAL_OPTIONS = {
  ...PRESTATE_OPTIONS,
  tracerConfig: {diffMode: true, disableCode: true},
} as const;

const NO_CODE = new Uint8Array(0);
const NO_SLOTS: ReadonlyMap<string, string | undefined> = new Map();

/** The response has neither code nor code hashes. */
class MissingCodeHashes extends NodeFailure {}

/** Everything that transactions touched, as it was before them, without code if the node supports that. */
const TOUCHED_OPTIONS = [{includeEmpty: true, disableCode: true}, {includeEmpty: true}].map(tracerConfig => ({
  ...PRESTATE_OPTIONS,
  tracerConfig,
}));

/** Requests traces without code; with it if the node refuses or code is needed. `onCodeNeeded` gets the reason. */
export async function readMinimalTraces(
  ask: (options: object) => Promise<unknown>,
  where: string,
  onCodeNeeded: (why: string) => void,
): Promise<TransactionTrace[]> {
  try {
    return parsePrestateTraces(await ask(MINIMAL_OPTIONS), where, true);
  } catch (error) {
    if (!(error instanceof NodeRefusal || error instanceof MissingCodeHashes)) throw error;
    const traces = parsePrestateTraces(await ask(PRESTATE_OPTIONS), where);
    // Other refusals may be transient.
    if (error instanceof MissingCodeHashes || error.isCallError) onCodeNeeded(error.message);
    return traces;
  }
}

/** @param isMinimal - code was not requested. @throws NodeFailure; MissingCodeHashes, only if `isMinimal` */
export function parsePrestateTraces(answer: unknown, where: string, isMinimal = false): TransactionTrace[] {
  return parseResults(answer, where).map(({txHash, result, name}) => ({
    hash: optional(txHash, value => parseWord(value, `${name}: txHash`)),
    accounts: joinAccounts(result, name, isMinimal),
  }));
}

/** @returns the accounts that a block's transactions touched, with their slots. @throws NodeFailure, NodeRefusal */
export async function readTouched(
  ask: (options: unknown) => Promise<unknown>,
  where: string,
): Promise<(readonly [string, readonly string[]])[]> {
  const [withoutCode, withCode] = TOUCHED_OPTIONS;
  const answer = await orRefusal(ask(withoutCode));
  const touched = answer instanceof NodeRefusal ? await ask(withCode) : answer;
  return parseResults(touched, where).flatMap(({result, name}) =>
    [...parseAccounts(result, name)].map(
      ([address, {storage}]) =>
        [address, [...parseSlots(storage, undefined, `${name}, ${address}`).keys()]] as const,
    ),
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

/** @param value - accounts by address, or null */
function parseAccounts(value: unknown, field: string): Map<string, JsonObject> {
  const accounts = new Map<string, JsonObject>();
  const given = parseObject(value === null ? {} : value, field);
  for (const address in given) {
    const key = parseAddress(address, `an address of ${field}`);
    accounts.set(key, parseObject(given[address], `${field}, ${key}`));
  }
  return accounts;
}

function joinAccounts(result: JsonObject, name: string, isMinimal: boolean): Map<string, AccountTrace> {
  const [pre, post] = [
    parseAccounts(result.pre, `${name}: pre`),
    parseAccounts(result.post, `${name}: post`),
  ];
  const joined = new Map<string, AccountTrace>();
  const join = (address: string, before: JsonObject | undefined, after: JsonObject | undefined): void => {
    const slots = parseSlots(before?.storage, after?.storage, `${name}, ${address}`);
    const hasHash = has(before, "codeHash") || has(after, "codeHash");
    if (isMinimal && !hasHash && slots.size > 0 && before !== undefined && !has(before, "code"))
      throw new MissingCodeHashes(`${name}: ${address} has neither code nor codeHash`);
    // An account created with a nonce and without a code hash may be a contract.
    const isNew = has(after, "codeHash") || (isMinimal && before === undefined && Number(after?.nonce) > 0);
    joined.set(address, {
      before: before === undefined ? "created" : parseBefore(before, `${name}: pre, ${address}`),
      after: after === undefined ? "removed" : parseView(after, `${name}: post, ${address}`),
      slots,
      ...(isNew && !has(after, "code") && {hidesCode: true}),
    });
  };
  for (const [address, before] of pre) join(address, before, post.get(address));
  for (const [address, after] of post) if (!pre.has(address)) join(address, undefined, after);
  return joined;
}

function has(account: JsonObject | undefined, field: string): boolean {
  return (account?.[field] ?? undefined) !== undefined;
}

function parseBefore(account: JsonObject, field: string): AccountView | "absent" {
  const {nonce = 0n, balance = 0n, ...view} = parseView(account, field);
  if (view.code === undefined && has(account, "codeHash")) return {nonce, balance, code: undefined};
  const {code = NO_CODE} = view;
  return isEmpty({nonce, balance, code}) ? "absent" : {nonce, balance, code};
}

function parseView({nonce, balance, code}: JsonObject, field: string): AccountView {
  return {
    nonce: optional(nonce, value => parseQuantity(value, `${field}: nonce`, 64)),
    balance: optional(balance, value => parseQuantity(value, `${field}: balance`, 256)),
    code: optional(code, value => parseBytes(value, `${field}: code`, MAX_CODE_BYTES)),
  };
}

/** Values of slots that are only in `before` are undefined. */
function parseSlots(before: unknown, after: unknown, field: string): ReadonlyMap<string, string | undefined> {
  if ((before ?? undefined) === undefined && (after ?? undefined) === undefined) return NO_SLOTS;
  const slots = new Map<string, string | undefined>();
  const add = (value: unknown, where: string, isUnknown: boolean): void => {
    if ((value ?? undefined) === undefined) return;
    const storage = parseObject(value, `${where}: storage`);
    for (const slot in storage) {
      const word = parseWord(storage[slot], `${where}: a value of storage`);
      slots.set(parseWord(slot, `${where}: a slot`), isUnknown ? undefined : word);
    }
  };
  add(before, `${field}, before it`, true);
  add(after, `${field}, after it`, false);
  return slots;
}
