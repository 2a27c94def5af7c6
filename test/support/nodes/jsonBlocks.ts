/** Blocks as eth_getBlockByNumber of geth gives them, with whole transactions. */
import type {Block} from "@ethereumjs/block";
import type {TypedTransaction} from "@ethereumjs/tx";
import {toHex} from "../../../storage/hex.ts";

type Json = Readonly<Record<string, unknown>>;

const HEADER_FIELDS = (
  "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed timestamp " +
  "extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash"
).split(" ");
const QUANTITIES = new Set(
  "difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas".split(" "),
);

export function describeBlock(block: Block): Json {
  const {header, transactions, uncleHeaders, withdrawals} = block;
  const hash = toHex(block.hash());
  const fields = header
    .raw()
    .map((value, at) => [HEADER_FIELDS[at], describeField(HEADER_FIELDS[at] as string, value as Uint8Array)]);
  return {
    ...Object.fromEntries(fields),
    hash,
    size: quantity(BigInt(block.serialize().length)),
    transactions: transactions.map((transaction, at) => ({
      ...describeTransaction(transaction),
      blockHash: hash,
      blockNumber: quantity(header.number),
      transactionIndex: quantity(BigInt(at)),
    })),
    uncles: uncleHeaders.map(uncle => toHex(uncle.hash())),
    ...(withdrawals && {
      withdrawals: withdrawals.map(({index, validatorIndex, address, amount}) => ({
        index: quantity(index),
        validatorIndex: quantity(validatorIndex),
        address: address.toString(),
        amount: quantity(amount),
      })),
    }),
  };
}

function describeField(name: string, value: Uint8Array): string {
  return QUANTITIES.has(name) ? quantityOf(value) : toHex(value);
}

function describeTransaction(transaction: TypedTransaction): Json {
  const {type, nonce, gasLimit, value, data, to, v, r, s} = transaction;
  return {
    type: quantity(BigInt(type)),
    hash: toHex(transaction.hash()),
    from: transaction.getSenderAddress().toString(),
    nonce: quantity(nonce),
    gas: quantity(gasLimit),
    value: quantity(value),
    input: toHex(data),
    to: to?.toString() ?? null,
    v: quantity(v ?? 0n),
    r: quantity(r ?? 0n),
    s: quantity(s ?? 0n),
    ...(type !== 0 && {yParity: quantity(v ?? 0n)}),
    ...("chainId" in transaction && {chainId: quantity(transaction.chainId)}),
    ...("gasPrice" in transaction && {gasPrice: quantity(transaction.gasPrice)}),
    ...("maxFeePerGas" in transaction && {
      gasPrice: quantity(transaction.maxFeePerGas),
      maxFeePerGas: quantity(transaction.maxFeePerGas),
      maxPriorityFeePerGas: quantity(transaction.maxPriorityFeePerGas),
    }),
    ...("accessList" in transaction && {
      accessList: transaction.accessList.map(([address, keys]) => ({
        address: toHex(address),
        storageKeys: keys.map(key => toHex(key)),
      })),
    }),
    ...("maxFeePerBlobGas" in transaction && {
      maxFeePerBlobGas: quantity(transaction.maxFeePerBlobGas),
      blobVersionedHashes: transaction.blobVersionedHashes,
    }),
    ...("authorizationList" in transaction && {
      authorizationList: transaction.authorizationList.map(([chainId, address, authorityNonce, ...rest]) => ({
        chainId: quantityOf(chainId),
        address: toHex(address),
        nonce: quantityOf(authorityNonce),
        yParity: quantityOf(rest[0]),
        r: quantityOf(rest[1]),
        s: quantityOf(rest[2]),
      })),
    }),
  };
}

function quantityOf(bytes: Uint8Array): string {
  return quantity(bytes.length === 0 ? 0n : BigInt(toHex(bytes)));
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
