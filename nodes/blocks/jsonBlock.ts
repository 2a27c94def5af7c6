/**
 * A block of eth_getBlockByNumber as RLP, for nodes without debug_getRawBlock. The header must have the hash that the
 * node names; the caller compares transactions and withdrawals with its roots.
 */
import {encodeList, encodeNumber, type RlpItem} from "../../storage/rlp/rlpWriter.ts";
import {
  type JsonObject,
  parseArray,
  parseBytes,
  parseFixedBytes,
  parseObject,
  parseQuantity,
} from "../rpc/answerValues.ts";
import {NodeFailure} from "../rpc/node.ts";
import {checkHeader} from "./nodeHeader.ts";

const CALL = ["gas", "to", "value", "input"];
const TYPED = ["chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", ...CALL, "accessList"];
/** By type: the fields of a transaction before its signature, in their order. */
const TRANSACTIONS: readonly (readonly string[])[] = [
  ["nonce", "gasPrice", ...CALL],
  ["chainId", "nonce", "gasPrice", ...CALL, "accessList"],
  TYPED,
  [...TYPED, "maxFeePerBlobGas", "blobVersionedHashes"],
  [...TYPED, "authorizationList"],
];
const WITHDRAWAL = ["index", "validatorIndex", "address", "amount"];
const AUTHORIZATION = ["chainId", "address", "nonce", "yParity", "r", "s"];

/** @param number - of the requested block. @throws NodeFailure naming the block, and the field or both hashes */
export function encodeJsonBlock(json: unknown, number: number): Uint8Array {
  const where = `block ${number}`;
  const block = parseObject(json, where);
  const header = checkHeader(block, number);
  if (parseArray(block.uncles ?? [], `${where}: uncles`).length > 0)
    throw new NodeFailure(`${where}: it has uncles, which only debug_getRawBlock gives`);
  const transactions = parseArray(block.transactions, `${where}: transactions`).map((transaction, at) =>
    encodeTransaction(transaction, `${where}: transactions[${at}]`),
  );
  const parts = [header, transactions, []];
  if ((block.withdrawals ?? undefined) === undefined) return encodeList(parts);
  const withdrawals = parseArray(block.withdrawals, `${where}: withdrawals`);
  return encodeList([
    ...parts,
    withdrawals.map((withdrawal, at) => {
      const field = `${where}: withdrawals[${at}]`;
      return encodeFields(parseObject(withdrawal, field), WITHDRAWAL, field);
    }),
  ]);
}

/** A legacy transaction is a list, a typed one its bytes. */
function encodeTransaction(value: unknown, field: string): RlpItem {
  const fields = parseObject(value, field);
  const type = Number(parseQuantity(fields.type ?? 0, `${field}.type`, 8));
  const names = TRANSACTIONS[type];
  if (names === undefined)
    throw new NodeFailure(
      `${field} cannot be read: expected type 0 to 4, got ${type}. Types that Ethereum does not have need --source trace`,
    );
  // The parity of older nodes' typed transactions is in v.
  const parity = type === 0 || fields.yParity === undefined ? "v" : "yParity";
  const items = encodeFields(fields, [...names, parity, "r", "s"], field);
  return type === 0 ? items : Buffer.concat([Uint8Array.of(type), encodeList(items)]);
}

function encodeFields(fields: JsonObject, names: readonly string[], where: string): RlpItem[] {
  return names.map(name => encodeField(name, fields[name], `${where}.${name}`));
}

function encodeField(name: string, value: unknown, field: string): RlpItem {
  const list = (encode: (one: unknown, at: string) => RlpItem): RlpItem =>
    parseArray(value ?? [], field).map((one, at) => encode(one, `${field}[${at}]`));
  switch (name) {
    case "to":
      return (value ?? undefined) === undefined ? new Uint8Array(0) : parseFixedBytes(value, field, 20);
    case "address":
      return parseFixedBytes(value, field, 20);
    case "input":
      return parseBytes(value, field);
    case "accessList":
      return list((one, at) => encodeFields(parseObject(one, at), ["address", "storageKeys"], at));
    case "storageKeys":
    case "blobVersionedHashes":
      return list((one, at) => parseFixedBytes(one, at, 32));
    case "authorizationList":
      return list((one, at) => encodeFields(parseObject(one, at), AUTHORIZATION, at));
    default:
      return encodeNumber(parseQuantity(value, field, 256));
  }
}
