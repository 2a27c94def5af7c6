import {toHex} from "../../../storage/hex.ts";
import {describeLayer1} from "../../../workers/messages/finalizationsCall.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import {createReadError} from "../method.ts";
import {BLOCK_PARAM, nullable, ROOTED_BLOCK} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {createReady} from "./readyMethod.ts";

export const getStateRoot = createReady({
  name: "chain_getStateRoot",
  summary:
    "Number, hash and state root of a block in the store, whether it is finalized, and the root that layer 1 has for it.",
  params: [{name: "block", required: false, schema: nullable(BLOCK_PARAM)}],
  result: {name: "block", schema: ROOTED_BLOCK},
  errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED],
  answer(view, [selector]) {
    const block = resolveSelector(selector ?? "latest", "params[0] (block)", "stored", view);
    const summary = view.chain.readBlock(block);
    if ("failure" in summary) throw createReadError(summary, block, view.head);
    const isFinalized = block <= (view.head.finalized ?? -1);
    const finalization = isFinalized ? view.chain.finalizations.endingAt(block) : undefined;
    return JSON.stringify({
      number: encodeQuantity(block),
      hash: toHex(summary.hash),
      stateRoot: toHex(summary.stateRoot),
      finalized: isFinalized,
      l1: finalization && describeLayer1(finalization),
    });
  },
});
