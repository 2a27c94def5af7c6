/** A hard fork of a chain, as each side of a comparison needs it. */
import type {Common} from "@ethereumjs/common";
import {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../../evm/execution/forks.ts";
import type {JsonObject} from "../../../evm/execution/gethJson.ts";
import {createFullRules} from "./fullRules.ts";

export interface ChainFork {
  readonly name: string;
  readonly forks: ForkSchedule;
  readonly common: Common;
}

/** @param config - geth's; the default has the fork from block 0 on */
export function chainFork(name: string, config?: JsonObject): ChainFork {
  const forks = new ForkSchedule(config ?? {...configOfFork(name), chainId: 1});
  const common = createFullRules(forks);
  common.setHardfork(name);
  return {name, forks, common};
}
