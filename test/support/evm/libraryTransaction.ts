/** A signed transaction under @ethereumjs/vm, on a state in plain maps. */
import {createTxFromRLP} from "@ethereumjs/tx";
import {createVM, runTx} from "@ethereumjs/vm";
import type {MemoryState} from "../chains/memoryState.ts";
import type {ChainFork} from "./chainFork.ts";
import {createLibraryEvm, libraryBlock} from "./libraryBlock.ts";
import {LibraryState} from "./libraryState.ts";
import {type BlockFields, type Outcome, plainLog} from "./transactionOutcome.ts";

/** @param transaction - RLP, after its type's byte if it has one */
export async function runByLibrary(
  {common}: ChainFork,
  before: MemoryState,
  block: BlockFields,
  transaction: Uint8Array,
): Promise<Outcome> {
  const state = new LibraryState(before);
  const evm = await createLibraryEvm(common, state, block);
  const vm = await createVM({common, evm, stateManager: evm.stateManager, blockchain: evm.blockchain});
  try {
    const result = await runTx(vm, {
      tx: createTxFromRLP(transaction, {common}),
      block: libraryBlock(common, block),
      skipHardForkValidation: true,
    });
    return {
      succeeds: result.execResult.exceptionError === undefined,
      gasUsed: result.totalGasSpent,
      logs: result.receipt.logs.map(([address, topics, data]) => plainLog(address, topics, data)),
      state: await state.after(),
    };
  } catch (error) {
    return {refused: error instanceof Error ? error.message : String(error)};
  }
}
