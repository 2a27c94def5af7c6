import {encodeQuantity} from "../../rpc/quantity.ts";
import {createBlockUnknownError, RpcCode} from "../../rpc/rpcError.ts";
import {type ReadyMethod, RecordFailure} from "../method.ts";
import {ParamList} from "../params.ts";
import {BLOCK, BLOCK_PARAM, nullable} from "../schema.ts";
import {resolveSelector} from "../selector.ts";

const NAME = "chain_getStateRoot";

export const getStateRoot: ReadyMethod = {
  name: NAME,
  summary: "Number, hash and state root of a block that this node holds, and whether it is finalized.",
  params: new ParamList(NAME, [{name: "block", required: false, schema: nullable(BLOCK_PARAM)}]),
  result: {name: "block", schema: BLOCK},
  errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED],
  lane: undefined,
  cost() {
    return 0;
  },
  answer(params, view) {
    const [selector] = this.params.read(params);
    const block = resolveSelector(selector ?? "latest", "params[0] (block)", "held", view);
    const summary = view.chain.readBlock(block);
    if ("failure" in summary) {
      if (summary.failure === "BLOCK_UNKNOWN")
        throw createBlockUnknownError(encodeQuantity(block), view.head);
      throw new RecordFailure(summary);
    }
    const {finalized} = view.head;
    return JSON.stringify({
      number: encodeQuantity(block),
      hash: `0x${Buffer.from(summary.hash).toString("hex")}`,
      stateRoot: `0x${Buffer.from(summary.stateRoot).toString("hex")}`,
      finalized: finalized !== undefined && block <= finalized,
    });
  },
};
