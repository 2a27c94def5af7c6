import {RpcCode} from "../../rpc/rpcError.ts";
import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {requireChainId} from "./chainId.ts";

const NAME = "net_version";

export const netVersion: ReadyMethod = {
  name: NAME,
  summary: "The chain's id as a decimal string.",
  params: new ParamList(NAME, []),
  result: {name: "networkId", schema: {type: "string", pattern: "^[0-9]+$"}},
  errors: [RpcCode.NOT_AVAILABLE],
  lane: undefined,
  cost() {
    return 0;
  },
  answer(params, {chain}) {
    this.params.read(params);
    return JSON.stringify(requireChainId(this.name, chain).toString());
  },
};
