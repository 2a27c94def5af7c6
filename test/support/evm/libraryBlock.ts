/** The library's EVM and its block, for a block's fields. */
import {type Block, createBlock} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {createEVM, type EVM} from "@ethereumjs/evm";
import {Address} from "@ethereumjs/util";
import type {LibraryState} from "./libraryState.ts";
import type {BlockFields} from "./transactionOutcome.ts";

export function createLibraryEvm(common: Common, state: LibraryState, block: BlockFields): Promise<EVM> {
  const blockchain = {
    getBlock: async (number: number) => ({hash: () => block.blockHash(number)}),
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  };
  return createEVM({common, stateManager: state as never, blockchain});
}

export function libraryBlock(common: Common, block: BlockFields): Block {
  const {number, timestamp, gasLimit, difficulty, random, baseFee, excessBlobGas} = block;
  const header = {
    number,
    timestamp,
    gasLimit,
    coinbase: new Address(block.coinbase),
    ...(common.gteHardfork("paris") ? {mixHash: random} : {difficulty}),
    ...(baseFee !== undefined && {baseFeePerGas: baseFee}),
    ...(excessBlobGas !== undefined && {excessBlobGas}),
  };
  return createBlock({header}, {common, skipConsensusFormatValidation: true});
}
