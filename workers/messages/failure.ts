/** What a worker could not do, as a value: structured clone drops error classes and fields. */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {describeLost, isDamage, PrunedError, StoreError} from "../../storage/errors.ts";
import type {NearestUnpruned} from "../../storage/prune/prunedBlocks.ts";

export {describeLost, type NearestUnpruned};

/** A failure that the server maps to a JSON-RPC code; `detail` is for the log or, where it is safe, the message. */
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
  | EstimateFailure;

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

/** What a worker throws where only the state shows that a call is wrong. */
export class CallError extends Error {
  override readonly name = "CallError";
}

/** What a worker throws for a call that this store cannot answer. The message is safe to show to the caller. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}

/** What a worker throws for an account that is in no slice. The message is safe to show to the caller. */
export class NotInSliceError extends Error {
  override readonly name = "NotInSliceError";
}

/** What a worker throws for slots that are not in a slice. */
export class SlotsMissingError extends Error {
  override readonly name = "SlotsMissingError";

  constructor(
    readonly block: number,
    readonly accounts: readonly MissingSlots[],
  ) {
    const [
      {
        address,
        slots: [slot],
      },
    ] = accounts as [MissingSlots];
    super(`block ${block}: slot ${slot} of ${address} is not in the store`);
  }
}

/** Failures that a gas estimate can have. Every `detail` is safe to show to the caller. */
export type EstimateFailure =
  /** `data`: what the contract reverted with, 0x hex. */
  | {readonly failure: "REVERTED"; readonly detail: string; readonly data: string}
  /** Out of gas at the upper bound, an invalid opcode, too little balance, ... */
  | {readonly failure: "EXECUTION_FAILED"; readonly detail: string}
  /** A parameter that only the block's hard fork or state shows to be wrong. */
  | {readonly failure: "CALL_INVALID"; readonly detail: string}
  /** The store lacks something that execution needs, such as the chain's rules. */
  | {readonly failure: "NOT_AVAILABLE"; readonly detail: string}
  /** The chain has rules and fees that proofd does not know: another node must estimate. */
  | {readonly failure: "RULES_UNKNOWN"; readonly detail: string}
  | {
      readonly failure: "LIMIT_EXCEEDED";
      readonly detail: string;
      readonly limit: number;
      readonly got: number;
    }
  /** Routed estimates only: the gateway did not answer. */
  | {readonly failure: "UPSTREAM_DOWN"; readonly detail: string};

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
  if (error instanceof CallError) return {failure: "CALL_INVALID", detail: error.message};
  if (error instanceof UnavailableError) return {failure: "NOT_AVAILABLE", detail: error.message};
  if (error instanceof NotInSliceError) return {failure: "NOT_IN_SLICE", detail: error.message};
  if (error instanceof SlotsMissingError)
    return {
      failure: "SLOTS_MISSING",
      detail: error.message,
      block: error.block,
      accounts: error.accounts,
    };
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
