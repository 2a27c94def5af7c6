/** A signed transaction in the interpreter, by the rules of `import`, on a state in plain maps. */
import assert from "node:assert/strict";
import {RLP} from "@ethereumjs/rlp";
import {readTransaction} from "../../../evm/execution/block/blockTransaction.ts";
import {BlockMismatch} from "../../../evm/execution/executionError.ts";
import {BLOB_GAS, blobBaseFee} from "../../../evm/execution/rules/fees.ts";
import {forkRules} from "../../../evm/execution/rules/forkRules.ts";
import {runTransaction} from "../../../evm/execution/run/transaction.ts";
import {recoverAddress} from "../../../evm/interpreter/ecrecover.ts";
import {Evm} from "../../../evm/interpreter/evm.ts";
import {rulesOf} from "../../../evm/interpreter/rules.ts";
import {toHex} from "../../../storage/hex.ts";
import {RlpError, RlpReader} from "../../../storage/rlp/rlpReader.ts";
import type {MemoryState} from "../chains/memoryState.ts";
import type {ChainFork} from "./chainFork.ts";
import {InterpreterState} from "./interpreterState.ts";
import {type BlockFields, type Outcome, plainLog} from "./transactionOutcome.ts";

const FIRST_LIST = 0xc0;
const evms = new WeakMap<ChainFork, Evm>();

/** @returns one for each fork, which is used again */
function evmUnder(fork: ChainFork): Evm {
  const evm = evms.get(fork) ?? new Evm();
  evms.set(fork, evm);
  return evm;
}

/** Sets the state and the block, as EVM opcodes see it. */
function setUp(evm: Evm, fork: ChainFork, source: InterpreterState, block: BlockFields): void {
  const rules = rulesOf(fork.name);
  assert.ok(rules);
  evm.moveTo(source);
  evm.setBlock(rules, {
    ...block,
    random: fork.common.gteHardfork("paris") ? BigInt(toHex(block.random)) : block.difficulty,
    ...feesOf(fork, block),
  });
}

function feesOf({name, forks}: ChainFork, {coinbase, baseFee = 0n, excessBlobGas}: BlockFields) {
  const blobFee = excessBlobGas === undefined ? 0n : blobBaseFee(excessBlobGas, forks.blobLimits(name));
  return {chainId: forks.chainId, coinbase, baseFee, blobBaseFee: blobFee};
}

/**
 * @param transaction - RLP, after its type's byte if it has one
 * @param evmRules - default: the fork's
 * @throws EvmDeclined
 */
export async function runByInterpreter(
  fork: ChainFork,
  before: MemoryState,
  block: BlockFields,
  transaction: Uint8Array,
): Promise<Outcome> {
  const source = new InterpreterState(before, block.blockHash);
  const {name, forks} = fork;
  const rules = forkRules(name);
  const evm = evmUnder(fork);
  setUp(evm, fork, source, block);
  try {
    const item = (transaction[0] ?? 0) >= FIRST_LIST ? transaction : RLP.encode(transaction);
    const decoded = readTransaction(new RlpReader(new Uint8Array(item)), forks.chainId);
    const {hash, rs, isOdd} = decoded.signature;
    // Of a whole block, which the rules of transactions do not count.
    if (rules.hasBlobs && BLOB_GAS * BigInt(decoded.blobHashes.length) > forks.blobLimits(name).max)
      return {refused: "it has more blobs than a block may have"};
    const context = {rules, ...feesOf(fork, block)};
    const sender = recoverAddress(hash, rs, isOdd);
    const {logs} = await runTransaction(evm, decoded, sender, context, block.gasLimit);
    return {
      logs: logs.map(({address, topics, data}) => plainLog(address, topics, data)),
      state: source.after(evm),
    };
  } catch (error) {
    if (error instanceof BlockMismatch || error instanceof RlpError) return {refused: error.message};
    throw error;
  }
}
