/** The rules of a hard fork from block 0 on. */
import type {Common} from "@ethereumjs/common";
import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import {createFullRules} from "../evm/fullRules.ts";

export function createCommon(hardfork: string, chainId: bigint): Common {
  const common = createFullRules(new ForkSchedule({...configOfFork(hardfork), chainId: `${chainId}`}));
  common.setHardfork(hardfork);
  return common;
}
