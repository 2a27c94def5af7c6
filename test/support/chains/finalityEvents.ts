/** Finalizations as layer 1 would say them. */
import type {FinalityEvent, FinalityStep} from "../../../storage/commit/finalityStep.ts";

export const CONTRACT = Buffer.alloc(20, 0xc0);

/** 32 bytes that name a layer-1 root, for stores whose own roots are others. */
export function rootOf(block: number): Uint8Array {
  return Buffer.alloc(32, block + 1);
}

/** The finalization of blocks `startBlock` to `endBlock` in layer-1 block `layer1Block`. */
export function createEvent(
  startBlock: number,
  endBlock: number,
  layer1Block: number,
  changes: Partial<FinalityEvent> = {},
): FinalityEvent {
  return {
    startBlock,
    endBlock,
    layer1Block,
    logIndex: 0,
    transactionHash: Buffer.alloc(32, layer1Block),
    names: "stateRoot",
    parent: rootOf(startBlock - 1),
    final: rootOf(endBlock),
    ...changes,
  };
}

/** All `events`, whose roots are not compared, and layer 1 read up to `block`. */
export function createStep(block: number, ...events: readonly FinalityEvent[]): FinalityStep {
  return {events, mark: {block, blockHash: Buffer.alloc(32, block), contract: CONTRACT}, root: "none"};
}
