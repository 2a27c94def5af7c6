import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {QUANTITY} from "../schema.ts";
import {resolveSelector} from "../selector.ts";

const NAME = "eth_blockNumber";

/** Answers the newest block even if it is not finalized, so that clients can watch the chain grow. */
export const ethBlockNumber: ReadyMethod = {
  name: NAME,
  summary: "The number of the newest block that this node holds. It need not be finalized.",
  params: new ParamList(NAME, []),
  result: {name: "blockNumber", schema: QUANTITY},
  errors: [RpcCode.BLOCK_UNKNOWN],
  lane: undefined,
  cost() {
    return 0;
  },
  answer(params, view) {
    this.params.read(params);
    return JSON.stringify(encodeQuantity(resolveSelector("latest", "block", "held", view)));
  },
};
