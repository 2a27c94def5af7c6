/** What layer 1 says of a block, as results show it. */
import type {Finalization} from "../../storage/block/finalization.ts";

export function describeLayer1({layer1Block, transactionHash, finalRoot}: Finalization): object {
  return {
    blockNumber: `0x${layer1Block.toString(16)}`,
    transactionHash: `0x${Buffer.from(transactionHash).toString("hex")}`,
    stateRoot: `0x${Buffer.from(finalRoot).toString("hex")}`,
  };
}
