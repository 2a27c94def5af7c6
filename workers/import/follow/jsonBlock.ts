/**
 * A block as eth_getBlockByNumber gives it with whole transactions, encoded again as the RLP of `geth export`: for nodes that
 * have no debug_getRawBlock.
 *
 * Nothing in it is trusted. The header must have the hash that the node names. blockBody.ts checks in the result whether the
 * transactions and withdrawals are those of the header.
 */
import type {Common} from "@ethereumjs/common";
import {createTx, normalizeTxParams, type TypedTransaction} from "@ethereumjs/tx";
import {createChainRules} from "../../../evm/execution/chainRules.ts";
import type {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {checkHeader} from "../../../nodes/blocks/nodeHeader.ts";
import {
  type JsonObject,
  parseArray,
  parseFixedBytes,
  parseObject,
  parseQuantity,
} from "../../../nodes/rpc/answerValues.ts";
import {NodeFailure} from "../../../nodes/rpc/node.ts";
import {encodeList, encodeNumber, type RlpItem} from "../../../storage/rlp/rlpWriter.ts";

/**
 * @param number - of the block that was asked for
 * @param forks - of the chain: they say how a transaction is encoded
 * @throws NodeFailure naming the block, and the field or both hashes
 */
export function encodeJsonBlock(json: unknown, number: number, forks: ForkSchedule): Uint8Array {
  const where = `block ${number}`;
  const block = parseObject(json, where);
  const header = checkHeader(block, number);
  if (parseArray(block.uncles ?? [], `${where}: uncles`).length > 0)
    throw new NodeFailure(`${where}: it has uncles, which only debug_getRawBlock gives`);
  const common = createCommon(block, forks, where);
  const transactions = parseArray(block.transactions, `${where}: transactions`).map((transaction, at) =>
    encodeTransaction(transaction, `${where}: transactions[${at}]`, common),
  );
  const parts = [header, transactions, []];
  if ((block.withdrawals ?? undefined) === undefined) return encodeList(parts);
  const withdrawals = parseArray(block.withdrawals, `${where}: withdrawals`);
  return encodeList([
    ...parts,
    withdrawals.map((withdrawal, at) => listWithdrawalFields(withdrawal, `${where}: withdrawals[${at}]`)),
  ]);
}

/** @returns the rules of the block's fork */
function createCommon(block: JsonObject, forks: ForkSchedule, where: string): Common {
  const quantity = (name: string, bits: number): bigint =>
    parseQuantity(block[name], `${where}: ${name}`, bits);
  const moment = {
    number: Number(quantity("number", 53)),
    timestamp: quantity("timestamp", 64),
    difficulty: quantity("difficulty", 256),
  };
  const common = createChainRules(forks);
  try {
    common.setHardfork(forks.forkAt(moment));
  } catch (error) {
    throw new NodeFailure(`${where}: it ${(error as Error).message}`, {cause: error});
  }
  return common;
}

/** As it stands in a block: an older one is a list, a newer one its bytes. */
function encodeTransaction(value: unknown, field: string, common: Common): RlpItem {
  const fields = parseObject(value, field);
  let transaction: TypedTransaction;
  try {
    transaction = createTx(normalizeTxParams(fields), {common, freeze: false});
  } catch (error) {
    throw new NodeFailure(
      `${field} cannot be read: ${(error as Error).message}. Types that Ethereum does not have need --source trace`,
      {cause: error},
    );
  }
  return transaction.type === 0 ? (transaction.raw() as RlpItem) : transaction.serialize();
}

function listWithdrawalFields(value: unknown, field: string): Uint8Array[] {
  const {index, validatorIndex, address, amount} = parseObject(value, field);
  return [
    encodeNumber(parseQuantity(index, `${field}.index`, 64)),
    encodeNumber(parseQuantity(validatorIndex, `${field}.validatorIndex`, 64)),
    parseFixedBytes(address, `${field}.address`, 20),
    encodeNumber(parseQuantity(amount, `${field}.amount`, 64)),
  ];
}
