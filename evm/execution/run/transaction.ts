/** Runs a transaction of a block: checks it, executes it, and settles gas and fees. */
import {toHex} from "../../../storage/hex.ts";
import type {Evm} from "../../interpreter/evm.ts";
import type {EvmLog} from "../../interpreter/message.ts";
import type {Transaction} from "../block/blockTransaction.ts";
import {BlockMismatch} from "../executionError.ts";
import {BLOB_GAS} from "../rules/fees.ts";
import type {ForkRules} from "../rules/forkRules.ts";
import {gasUsed} from "../rules/gas.ts";
import {applyAuthorizations, delegateOf, recoverAuthority} from "./authorizations.ts";
import {checkTransaction, require, type TransactionBlock} from "./transactionCheck.ts";

/** @param sender - undefined: invalid signature. @param gasLeft - gas left in the block. @throws BlockMismatch */
export async function runTransaction(
  evm: Evm,
  transaction: Transaction,
  sender: Uint8Array | undefined,
  block: TransactionBlock,
  gasLeft: bigint,
): Promise<{hasSucceeded: boolean; gasUsed: bigint; logs: readonly EvmLog[]}> {
  if (sender === undefined) throw new BlockMismatch("its signature is invalid");
  const {rules, baseFee} = block;
  const {gasLimit, to, value, data, nonce, blobHashes, authorizations} = transaction;
  const paid = checkTransaction(transaction, block, gasLeft);
  const blobGas = BLOB_GAS * BigInt(blobHashes.length);
  const balance = checkSender(evm, transaction, sender, blobGas, rules);
  const tip = transaction.maxFee - baseFee;
  const gasPrice = baseFee + (transaction.maxPriorityFee < tip ? transaction.maxPriorityFee : tip);

  evm.beginTransaction();
  evm.writeBalance(sender, balance - gasLimit * gasPrice - blobGas * block.blobBaseFee);
  evm.writeNonce(sender, nonce + 1n);
  evm.warmAddress(sender);
  if (rules.isShanghai) evm.warmAddress(block.coinbase);
  for (const {address, slots} of transaction.accessList) {
    evm.warmAddress(address);
    for (const slot of slots) evm.warmSlot(address, slot);
  }
  if (authorizations !== undefined) {
    const signed = authorizations.map(one => ({...one, authority: recoverAuthority(one)}));
    applyAuthorizations(evm, signed, block.chainId);
  }
  // If `to` delegates (EIP-7702), the EVM warms the account that it delegates to.
  if (to !== undefined) evm.warmAddress(to);
  const gas = gasLimit - paid.intrinsic;
  const message = {origin: sender, caller: sender, to, value, data, gas, gasPrice, blobHashes, nonce};
  const {end, gasLeft: left} = await evm.run(message);
  const used = gasUsed(gasLimit, left, evm.refund, paid.floor, rules);
  evm.addBalance(sender, (gasLimit - used) * gasPrice);
  evm.addBalance(block.coinbase, used * (gasPrice - baseFee));
  const logs = evm.readLogs();
  evm.endTransaction();
  return {hasSucceeded: end === "success", gasUsed: used, logs};
}

/** @returns the sender's balance */
function checkSender(
  evm: Evm,
  {gasLimit, maxFee, maxBlobFee, value, nonce}: Transaction,
  sender: Uint8Array,
  blobGas: bigint,
  rules: ForkRules,
): bigint {
  const code = evm.readCode(sender);
  require(code.length === 0 ||
    (rules.isPrague && delegateOf(code) !== undefined), "its sender is a contract (EIP-3607)");
  const next = evm.readNonce(sender);
  require(next === nonce, `its nonce is ${nonce}, the sender's next nonce is ${next}`);
  const balance = evm.readBalance(sender);
  const most = gasLimit * maxFee + blobGas * maxBlobFee + value;
  require(balance >= most, `it needs up to ${most} wei, its sender ${toHex(sender)} has ${balance}`);
  return balance;
}
