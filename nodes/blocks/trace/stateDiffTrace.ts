/**
 * Responses of trace_replayBlockTransactions with "stateDiff".
 *
 *   [{"transactionHash": "0x..", "stateDiff": {"0xaddress": account}}, ...]
 *   account = {"balance": delta, "nonce": delta, "code": delta, "storage": {"0xslot": delta}}
 *   delta   = "="                              unchanged
 *           | {"*": {"from": "..", "to": ".."}}  changed
 *           | {"+": ".."}                        the transaction created the account (or slot)
 *           | {"-": ".."}                        it removed the account (or slot)
 *
 * null stands for an empty object.
 */
import {
  optional,
  parseAddress,
  parseArray,
  parseBytes,
  parseObject,
  parseQuantity,
  parseWord,
  unexpected,
} from "../../rpc/answerValues.ts";
import {type AccountTrace, MAX_CODE_BYTES, type TransactionTrace} from "./accountTrace.ts";

export const STATE_DIFF_KINDS: readonly string[] = ["stateDiff"];

interface Delta<Value> {
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly kind: "=" | "*" | "+" | "-";
}

type Parse<Value> = (value: unknown, field: string) => Value;

const parseNonce: Parse<bigint> = (value, field) => parseQuantity(value, field, 64);
const parseBalance: Parse<bigint> = (value, field) => parseQuantity(value, field, 256);
const parseCode: Parse<Uint8Array> = (value, field) => parseBytes(value, field, MAX_CODE_BYTES);

/** @param where - names the response in messages. @throws NodeFailure */
export function parseStateDiffTraces(answer: unknown, where: string): TransactionTrace[] {
  return parseArray(answer, where).map((entry, position) => {
    const name = `${where}, transaction ${position}`;
    const {transactionHash, stateDiff} = parseObject(entry, name);
    const accounts = new Map<string, AccountTrace>();
    const changed = parseObject(stateDiff === null ? {} : stateDiff, `${name}: stateDiff`);
    for (const [address, account] of Object.entries(changed)) {
      const key = parseAddress(address, `${name}: an address of stateDiff`);
      accounts.set(key, parseAccount(account, `${name}, ${key}`));
    }
    return {hash: optional(transactionHash, value => parseWord(value, `${name}: transactionHash`)), accounts};
  });
}

function parseAccount(value: unknown, field: string): AccountTrace {
  const account = parseObject(value, field);
  const nonce = parseDelta(account.nonce, `${field}: nonce`, parseNonce);
  const balance = parseDelta(account.balance, `${field}: balance`, parseBalance);
  const code = parseDelta(account.code, `${field}: code`, parseCode);
  const wasMade = nonce.kind === "+" && balance.kind === "+";
  const isContract = (nonce.after ?? 0n) > 0n || (code.after?.length ?? 0) > 0;
  const before = {nonce: nonce.before, balance: balance.before, code: code.before};
  const isRemoved = nonce.kind === "-" || balance.kind === "-";
  return {
    before: wasMade ? (isContract ? "created" : "absent") : before,
    after: isRemoved ? "removed" : {nonce: nonce.after, balance: balance.after, code: code.after},
    slots: parseSlots(account.storage, `${field}: storage`),
  };
}

function parseSlots(value: unknown, field: string): Map<string, string | undefined> {
  const slots = new Map<string, string | undefined>();
  if ((value ?? undefined) === undefined) return slots;
  for (const [slot, delta] of Object.entries(parseObject(value, field))) {
    const key = parseWord(slot, `a slot of ${field}`);
    const {kind, after} = parseDelta(delta, `${field}, ${key}`, parseWord);
    if (kind !== "=") slots.set(key, after);
  }
  return slots;
}

/** A field that is missing or null did not change. */
function parseDelta<Value>(value: unknown, field: string, parse: Parse<Value>): Delta<Value> {
  if ((value ?? "=") === "=") return {kind: "=", before: undefined, after: undefined};
  const delta = parseObject(value, field);
  if (delta["*"] !== undefined) {
    const {from, to} = parseObject(delta["*"], field);
    return {kind: "*", before: parse(from, `${field}: from`), after: parse(to, `${field}: to`)};
  }
  if (delta["+"] !== undefined)
    return {kind: "+", before: undefined, after: parse(delta["+"], `${field}: +`)};
  if (delta["-"] !== undefined)
    return {kind: "-", before: parse(delta["-"], `${field}: -`), after: undefined};
  throw unexpected(field, value, 'one of "=", {"*"}, {"+"} and {"-"}');
}
