import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {chainId} from "./chainId.ts";

const NAME = "eth_chainId";

export const ethChainId: ReadyMethod = {
  ...chainId,
  name: NAME,
  summary: "The same as chain_chainId, under the name that Ethereum clients ask for.",
  params: new ParamList(NAME, []),
};
