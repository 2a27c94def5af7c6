/** The rules of a hard fork from block 0 on. */
import type {Common} from "@ethereumjs/common";
import {createChainRules} from "../../../evm/execution/chainRules.ts";
import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";

export function createCommon(hardfork: string, chainId: bigint): Common {
  const common = createChainRules(new ForkSchedule({...configOfFork(hardfork), chainId: `${chainId}`}));
  common.setHardfork(hardfork);
  return common;
}
