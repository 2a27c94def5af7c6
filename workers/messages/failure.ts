/** What a worker could not do, as a value: structured clone drops error classes and fields. */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {describeLost, isDamage, PrunedError, StoreError} from "../../storage/errors.ts";
import type {NearestUnpruned} from "../../storage/prune/prunedBlocks.ts";

export {describeLost, type NearestUnpruned};

/**
 * A failure that the server maps to a JSON-RPC code. Of DAMAGED and INTERNAL `detail` is for the log only; of the others
 * it is safe to show to the caller.
 */
export type Failure =
  | {readonly failure: "DAMAGED" | "BLOCK_UNKNOWN" | "INTERNAL"; readonly detail: string}
  | {
      readonly failure: "BLOCK_PRUNED";
      readonly detail: string;
      readonly block: number;
      /** The nearest blocks that can be proved. The main thread adds them; a worker does not know them. */
      readonly nearest?: NearestUnpruned;
    }
  /** The store has slices, but not of this account at this block. */
  | {readonly failure: "NOT_IN_SLICE"; readonly detail: string}
  | SlotsMissing
  /** `data`: what the contract reverted with, 0x hex. */
  | {readonly failure: "REVERTED"; readonly detail: string; readonly data: string}
  | {
      /** EXECUTION_FAILED: out of gas at the upper bound, an invalid opcode, too little balance, ... */
      readonly failure:
        | "EXECUTION_FAILED"
        /** A parameter that only the block's hard fork or state shows to be wrong. */
        | "CALL_INVALID"
        /** The store lacks something that the call needs, such as the chain's rules. */
        | "NOT_AVAILABLE"
        /** The chain has rules and fees that proofd does not know: another node must estimate. */
        | "RULES_UNKNOWN"
        /** Routed estimates only: the gateway did not answer. */
        | "UPSTREAM_DOWN";
      readonly detail: string;
    }
  | {
      readonly failure: "LIMIT_EXCEEDED";
      readonly detail: string;
      readonly limit: number;
      readonly got: number;
    };

/** The store has a slice, and lacks nodes on the paths of some slots: another version of the contract may have them. */
export interface SlotsMissing {
  readonly failure: "SLOTS_MISSING";
  readonly detail: string;
  readonly block: number;
  readonly accounts: readonly MissingSlots[];
}

interface MissingSlots {
  /** 0x text, in lower case. */
  readonly address: string;
  /** 0x text of 32 bytes each. */
  readonly slots: readonly string[];
}

/** What a worker throws for a call that it cannot answer. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";

  constructor(readonly failure: Failure) {
    super(failure.detail);
  }
}

/** As failureOf, for a read at `blocks`: if one of them was pruned meanwhile, its missing pages are no damage. */
export function failureAt(error: unknown, reader: StateReader, blocks: readonly number[]): Failure {
  if (!isDamage(error)) return failureOf(error);
  try {
    for (const block of blocks) reader.refusePruned(block);
  } catch (second) {
    return failureOf(second);
  }
  return failureOf(error);
}

export function failureOf(error: unknown): Failure {
  if (error instanceof PrunedError)
    return {failure: "BLOCK_PRUNED", detail: error.message, block: error.block};
  if (error instanceof CallFailure) return error.failure;
  if (error instanceof StoreError && error.code === "NO_TREES")
    return {
      failure: "NOT_AVAILABLE",
      detail: `${error.message}. Use eth_getProof, chain_getProofAt or chain_getMultiProof`,
    };
  if (error instanceof StoreError && error.code === "BLOCK_UNKNOWN")
    return {failure: "BLOCK_UNKNOWN", detail: error.message};
  if (isDamage(error)) return {failure: "DAMAGED", detail: `${error.code}: ${error.message}`};
  return {
    failure: "INTERNAL",
    detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
