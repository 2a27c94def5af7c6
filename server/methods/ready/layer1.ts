/** What layer 1 says of a block, as results show it. */
import type {Finalization} from "../../../workers/chain/chainView.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";

/** Fields of `l1` in a result. */
export function describeLayer1({layer1Block, transactionHash, finalRoot}: Finalization): object {
  return {
    blockNumber: encodeQuantity(layer1Block),
    transactionHash: `0x${Buffer.from(transactionHash).toString("hex")}`,
    stateRoot: `0x${Buffer.from(finalRoot).toString("hex")}`,
  };
}
