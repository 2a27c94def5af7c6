import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {ethBlockNumber} from "./ethBlockNumber.ts";

const NAME = "rollup_getZkEVMBlockNumber";

/** What clients of the network's own state manager ask for to see how far its trees have come: a quantity. */
export const rollupBlockNumber: ReadyMethod = {
  ...ethBlockNumber,
  name: NAME,
  params: new ParamList(NAME, []),
};
