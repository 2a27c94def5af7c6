import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import {QUANTITY} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {createReady} from "./readyMethod.ts";

/** Answers the newest block even if it is not finalized, so that clients can watch the chain grow. */
export const ethBlockNumber = createBlockNumber("eth_blockNumber");

/** What clients of the network's own state manager ask for to see how far its trees have come: a quantity. */
export const rollupBlockNumber = createBlockNumber("rollup_getZkEVMBlockNumber");

function createBlockNumber(name: string) {
  return createReady({
    name,
    summary: "The number of the newest block in the store. It need not be finalized.",
    result: {name: "blockNumber", schema: QUANTITY},
    errors: [RpcCode.BLOCK_UNKNOWN],
    answer: view => JSON.stringify(encodeQuantity(resolveSelector("latest", "block", "stored", view))),
  });
}
