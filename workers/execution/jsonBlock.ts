/**
 * A block as eth_getBlockByNumber gives it with whole transactions, encoded again as the RLP of `geth export`: for nodes that
 * have no debug_getRawBlock.
 *
 * Nothing in it is trusted. The header must have the hash that the node names; whether the transactions and withdrawals are
 * those of the header is checked in the result (blockBody.ts).
 */
import type {Common} from "@ethereumjs/common";
import {RLP} from "@ethereumjs/rlp";
import {createTx, normalizeTxParams, type TypedTransaction} from "@ethereumjs/tx";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {ExecutionError} from "./errors.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {type JsonObject, parseBytes, parseObject, parseQuantity} from "./gethJson.ts";

/** The header's fields in their order. Those from baseFeePerGas on came with forks. */
const HEADER_FIELDS: readonly (readonly [name: string, kind: "bytes" | "quantity"])[] = [
  ["parentHash", "bytes"],
  ["sha3Uncles", "bytes"],
  ["miner", "bytes"],
  ["stateRoot", "bytes"],
  ["transactionsRoot", "bytes"],
  ["receiptsRoot", "bytes"],
  ["logsBloom", "bytes"],
  ["difficulty", "quantity"],
  ["number", "quantity"],
  ["gasLimit", "quantity"],
  ["gasUsed", "quantity"],
  ["timestamp", "quantity"],
  ["extraData", "bytes"],
  ["mixHash", "bytes"],
  ["nonce", "bytes"],
  ["baseFeePerGas", "quantity"],
  ["withdrawalsRoot", "bytes"],
  ["blobGasUsed", "quantity"],
  ["excessBlobGas", "quantity"],
  ["parentBeaconBlockRoot", "bytes"],
  ["requestsHash", "bytes"],
];
const FIELDS_OF_EVERY_FORK = 15;
const WITHDRAWAL_FIELDS = ["index", "validatorIndex", "address", "amount"] as const;

/**
 * @param forks - of the chain: they say how a transaction is encoded
 * @throws ExecutionError BLOCK_INVALID naming the field, or both hashes if the header has another one than the node names
 */
export function encodeJsonBlock(json: unknown, forks: ForkSchedule): Uint8Array {
  const block = parseParts(() => parseObject(json, "the block"), "a block");
  const where = `block ${typeof block.number === "string" ? Number(block.number) : "without number"}`;
  return parseParts(() => encode(block, forks), where);
}

function encode(block: JsonObject, forks: ForkSchedule): Uint8Array {
  const header = encodeHeader(block);
  const hash = toHex(keccak256(RLP.encode(header)));
  if (hash !== block.hash) throw new Error(`its header has the hash ${hash}, the node names ${block.hash}`);
  if (Array.isArray(block.uncles) && block.uncles.length > 0)
    throw new Error("it has uncles, which only debug_getRawBlock gives");
  const common = forks.createCommon();
  common.setHardfork(
    forks.forkAt({
      number: Number(parseQuantity(block.number, "number", 53)),
      timestamp: parseQuantity(block.timestamp, "timestamp", 64),
      difficulty: parseQuantity(block.difficulty, "difficulty", 256),
    }),
  );
  const transactions = parseList(block.transactions, "transactions").map((transaction, at) =>
    encodeTransaction(transaction, `transactions[${at}]`, common),
  );
  const withdrawals = block.withdrawals ?? undefined;
  const parts = [header, transactions, []];
  if (withdrawals === undefined) return RLP.encode(parts);
  return RLP.encode([...parts, parseList(withdrawals, "withdrawals").map(encodeWithdrawal)]);
}

function encodeHeader(block: JsonObject): Uint8Array[] {
  const fields: Uint8Array[] = [];
  for (const [name, kind] of HEADER_FIELDS) {
    const value = block[name] ?? undefined;
    if (value === undefined) {
      if (fields.length < FIELDS_OF_EVERY_FORK) throw new Error(`its ${name} is missing`);
      break;
    }
    fields.push(kind === "bytes" ? parseBytes(value, name) : encodeQuantity(value, name));
  }
  return fields;
}

/** As it stands in a block: an older one is a list, a newer one its bytes. */
function encodeTransaction(value: unknown, field: string, common: Common): Uint8Array | Uint8Array[] {
  let transaction: TypedTransaction;
  try {
    transaction = createTx(normalizeTxParams(parseObject(value, field)), {common, freeze: false});
  } catch (error) {
    throw new Error(`${field} cannot be read: ${(error as Error).message}`, {cause: error});
  }
  return transaction.type === 0 ? (transaction.raw() as Uint8Array[]) : transaction.serialize();
}

function encodeWithdrawal(value: unknown, at: number): Uint8Array[] {
  const withdrawal = parseObject(value, `withdrawals[${at}]`);
  return WITHDRAWAL_FIELDS.map(name => {
    const field = `withdrawals[${at}].${name}`;
    return name === "address" ? parseBytes(withdrawal[name], field) : encodeQuantity(withdrawal[name], field);
  });
}

/** Without leading zeros. */
function encodeQuantity(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string") throw new Error(`its ${field} is not a quantity`);
  const hex = parseQuantity(value, field, 256).toString(16);
  return hex === "0" ? new Uint8Array(0) : Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}

function parseList(value: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`its ${field} are not a list`);
  return value;
}

function parseParts<T>(parse: () => T, where: string): T {
  try {
    return parse();
  } catch (error) {
    const reason = (error as Error).message.replace(/^genesis: /, "its ");
    throw new ExecutionError("BLOCK_INVALID", `${where} cannot be read: ${reason}`, {cause: error});
  }
}
