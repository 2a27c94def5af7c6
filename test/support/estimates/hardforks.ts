/** The rules of a hard fork from block 0 on. */
import type {Common} from "@ethereumjs/common";
import {createChainRules} from "../../../workers/execution/chainRules.ts";
import {ForkSchedule} from "../../../workers/execution/forkSchedule.ts";
import {configOfFork} from "../../../workers/execution/forks.ts";

export function createCommon(hardfork: string, chainId: bigint): Common {
  const common = createChainRules(new ForkSchedule({...configOfFork(hardfork), chainId: `${chainId}`}));
  common.setHardfork(hardfork);
  return common;
}
