/** eth_capabilities (ethereum/execution-apis): routers ask it to learn which blocks each node can answer for. */
import {toHex} from "../../../storage/hex.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import {createReadError} from "../method.ts";
import {arrayOf, HASH, objectOf, QUANTITY, RANGE} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {createReady} from "./readyMethod.ts";

const RESOURCE = objectOf({disabled: {type: "boolean"}}, {oldestBlock: QUANTITY});
/** Of a store of slices: blocks between oldestBlock and head that cannot be proved. The newest ones, ascending. */
const MAX_GAPS = 64;
const PROOFS = objectOf({disabled: {type: "boolean"}}, {oldestBlock: QUANTITY, gaps: arrayOf(RANGE)});
const NOT_SERVED = {disabled: true};
const OTHER_DATA = ["state", "tx", "logs", "receipts", "blocks"];

/** What the answer has for each kind of data besides proofs. */
function otherData<Value>(value: Value): Readonly<Record<string, Value>> {
  return Object.fromEntries(OTHER_DATA.map(name => [name, value]));
}

export const ethCapabilities = createReady({
  name: "eth_capabilities",
  summary:
    "The blocks that eth_getProof can answer for: stateproofs.oldestBlock to head, the newest finalized block. A store of slices may have gaps between them, stateproofs.gaps. Other data is not served.",
  result: {
    name: "capabilities",
    schema: objectOf({
      head: objectOf({number: QUANTITY, hash: HASH}),
      ...otherData(RESOURCE),
      stateproofs: PROOFS,
    }),
  },
  errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED],
  answer(view) {
    const number = resolveSelector("finalized", "block", "provable", view);
    const block = view.chain.readBlock(number);
    if ("failure" in block) throw createReadError(block, number, view.head);
    const oldestBlock = encodeQuantity(resolveSelector("earliest", "block", "provable", view));
    const gaps = view.chain.gaps.slice(-MAX_GAPS).map(({from, to}) => [from, to].map(encodeQuantity));
    return JSON.stringify({
      head: {number: encodeQuantity(number), hash: toHex(block.hash)},
      ...otherData(NOT_SERVED),
      stateproofs: view.chain.hasTrie(number)
        ? {disabled: false, oldestBlock, ...(gaps.length > 0 && {gaps})}
        : NOT_SERVED,
    });
  },
});
