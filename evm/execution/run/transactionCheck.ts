/** Checks a transaction against its block, without sender and state. */
import type {EvmBlock} from "../../interpreter/message.ts";
import type {Transaction} from "../block/blockTransaction.ts";
import {BlockMismatch} from "../executionError.ts";
import type {ForkRules} from "../rules/forkRules.ts";
import {type PaidGas, paidGas} from "../rules/gas.ts";

/** The coinbase gets the priority fees. */
export interface TransactionBlock extends Pick<EvmBlock, "chainId" | "coinbase" | "baseFee" | "blobBaseFee"> {
  readonly rules: ForkRules;
}

const MAX_NONCE = 2n ** 64n - 1n;
const WORD_LIMIT = 2n ** 256n;
/** EIP-7825. */
const MAX_GAS = 2n ** 24n;
/** EIP-3860. */
const MAX_INITCODE_BYTES = 49_152;
/** EIP-7594. */
const MAX_BLOBS = 6;
/** EIP-4844: the first byte of a versioned hash. */
const BLOB_VERSION = 1;
const BLOBS = 3;
const DELEGATION = 4;
/** Whether a fork has the transaction type, by type. */
const TYPES: readonly ((rules: ForkRules) => boolean)[] = [
  () => true,
  () => true,
  rules => rules.hasBaseFee,
  rules => rules.hasBlobs,
  rules => rules.isPrague,
];

/** @param gasLeft - gas left in the block. @returns its intrinsic gas and gas floor. @throws BlockMismatch if invalid */
export function checkTransaction(
  transaction: Transaction,
  block: TransactionBlock,
  gasLeft: bigint,
): PaidGas {
  const {rules, baseFee, blobBaseFee} = block;
  const {type, gasLimit, to, data, nonce, maxFee, accessList, blobHashes, authorizations} = transaction;
  require(TYPES[type]?.(rules) === true, `it has type ${type}, which its fork does not have`);
  require(gasLimit <= gasLeft, `its gas limit is ${gasLimit}, the block has ${gasLeft} left`);
  require(!rules.isOsaka ||
    gasLimit <= MAX_GAS, `its gas limit is ${gasLimit}, at most ${MAX_GAS} is allowed (EIP-7825)`);
  require(nonce < MAX_NONCE, "its nonce is too large");
  require(maxFee >= baseFee, `it pays at most ${maxFee} wei per gas, the block's base fee is ${baseFee}`);
  require(maxFee >= transaction.maxPriorityFee, "its priority fee is more than its fee");
  require(gasLimit * maxFee < WORD_LIMIT, "its gas costs more than 2^256 wei");
  require(type < BLOBS || to !== undefined, "its type creates no contracts");
  require(to !== undefined ||
    !rules.isShanghai ||
    data.length <= MAX_INITCODE_BYTES, "its init code is too long");
  require(type !== DELEGATION || (authorizations?.length ?? 0) > 0, "it has no authorizations");
  if (type === BLOBS) {
    require(blobHashes.length > 0, "it has no blobs");
    require(!rules.isOsaka || blobHashes.length <= MAX_BLOBS, "it has too many blobs");
    require(blobHashes.every(hash => hash[0] === BLOB_VERSION), "a blob's hash has another version");
    require(transaction.maxBlobFee >=
      blobBaseFee, `it pays at most ${transaction.maxBlobFee} wei per blob gas, the block's blob base fee is ${blobBaseFee}`);
  }
  const paid = paidGas(
    {
      data,
      isCreation: to === undefined,
      listedAddresses: accessList.length,
      listedSlots: accessList.reduce((sum, {slots}) => sum + slots.length, 0),
      authorizations: authorizations?.length ?? 0,
    },
    rules,
  );
  const least = paid.intrinsic > paid.floor ? paid.intrinsic : paid.floor;
  require(gasLimit >=
    least, `its gas limit is ${gasLimit}, it needs at least ${least} (intrinsic gas and floor)`);
  return paid;
}

export function require(holds: boolean, otherwise: string): void {
  if (!holds) throw new BlockMismatch(otherwise);
}
