import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode, RpcError} from "../../rpc/rpcError.ts";
import type {RequestView} from "../method.ts";
import {QUANTITY} from "../schema.ts";
import {createReady} from "./readyMethod.ts";

const NET_VERSION = "net_version";

export const chainId = createChainId("chain_chainId", "The chain's id.");

export const ethChainId = createChainId(
  "eth_chainId",
  "The same as chain_chainId, under the name that Ethereum clients ask for.",
);

export const netVersion = createReady({
  name: NET_VERSION,
  summary: "The chain's id as a decimal string.",
  result: {name: "networkId", schema: {type: "string", pattern: "^[0-9]+$"}},
  errors: [RpcCode.NOT_AVAILABLE],
  answer: view => JSON.stringify(requireChainId(NET_VERSION, view).toString()),
});

function createChainId(name: string, summary: string) {
  return createReady({
    name,
    summary,
    result: {name: "chainId", schema: QUANTITY},
    errors: [RpcCode.NOT_AVAILABLE],
    answer: view => JSON.stringify(encodeQuantity(requireChainId(name, view))),
  });
}

/** @throws RpcError NOT_AVAILABLE if the chain id is unknown */
function requireChainId(method: string, {chain}: RequestView): bigint {
  if (chain.chainId !== undefined) return chain.chainId;
  const reason = "this store names no chain id (start with --chain-id to name it)";
  throw new RpcError(RpcCode.NOT_AVAILABLE, `${method} is not available: ${reason}`);
}
