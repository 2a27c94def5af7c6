import type {ChainView} from "../../../workers/chain/chainView.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode, RpcError} from "../../rpc/rpcError.ts";
import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {QUANTITY} from "../schema.ts";

const NAME = "chain_chainId";

export const chainId: ReadyMethod = {
  name: NAME,
  summary: "The chain's id.",
  params: new ParamList(NAME, []),
  result: {name: "chainId", schema: QUANTITY},
  errors: [RpcCode.NOT_AVAILABLE],
  lane: undefined,
  cost() {
    return 0;
  },
  answer(params, {chain}) {
    this.params.read(params);
    return JSON.stringify(encodeQuantity(requireChainId(this.name, chain)));
  },
};

/** @param method - named in the message. @throws RpcError NOT_AVAILABLE if the chain id is unknown */
export function requireChainId(method: string, {chainId}: ChainView): bigint {
  if (chainId !== undefined) return chainId;
  const reason = "block 0 of this store names no chain id (start with --chain-id to name it)";
  throw new RpcError(RpcCode.NOT_AVAILABLE, `${method} is not available: ${reason}`);
}
