/** eth_capabilities (ethereum/execution-apis): routers ask it to learn which blocks each node can answer for. */
import {toHex} from "../../../storage/hex.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import {createReadError} from "../method.ts";
import {HASH, objectOf, QUANTITY} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {createReady} from "./readyMethod.ts";

const RESOURCE = objectOf({disabled: {type: "boolean"}}, {oldestBlock: QUANTITY});
const NOT_SERVED = {disabled: true};

export const ethCapabilities = createReady({
  name: "eth_capabilities",
  summary:
    "The blocks that eth_getProof can answer for: stateproofs.oldestBlock to head, the newest finalized block. Other data is not served.",
  result: {
    name: "capabilities",
    schema: objectOf({
      head: objectOf({number: QUANTITY, hash: HASH}),
      state: RESOURCE,
      tx: RESOURCE,
      logs: RESOURCE,
      receipts: RESOURCE,
      blocks: RESOURCE,
      stateproofs: RESOURCE,
    }),
  },
  errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED],
  answer(view) {
    const number = resolveSelector("finalized", "block", "provable", view);
    const block = view.chain.readBlock(number);
    if ("failure" in block) throw createReadError(block, number, view.head);
    const oldestBlock = encodeQuantity(resolveSelector("earliest", "block", "provable", view));
    return JSON.stringify({
      head: {number: encodeQuantity(number), hash: toHex(block.hash)},
      state: NOT_SERVED,
      tx: NOT_SERVED,
      logs: NOT_SERVED,
      receipts: NOT_SERVED,
      blocks: NOT_SERVED,
      stateproofs: view.chain.hasTrie(number) ? {disabled: false, oldestBlock} : NOT_SERVED,
    });
  },
});
