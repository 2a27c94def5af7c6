/** What a worker could not do. Expected failures are values, because structured clone drops error classes and fields. */

/** A failure that the server maps to a JSON-RPC code; `detail` is for the log or, where it is safe, the message. */
export type Failure =
  | {readonly failure: "DAMAGED" | "BLOCK_UNKNOWN" | "INTERNAL"; readonly detail: string}
  | EstimateFailure;

/** What only a gas estimate can fail by; every `detail` is safe for the caller. */
export type EstimateFailure =
  /** `data`: what the contract reverted with, 0x hex. */
  | {readonly failure: "REVERTED"; readonly detail: string; readonly data: string}
  /** Out of gas at the upper bound, an invalid opcode, too little balance, ... */
  | {readonly failure: "EXECUTION_FAILED"; readonly detail: string}
  /** A parameter that only the block's hard fork or state shows to be wrong. */
  | {readonly failure: "CALL_INVALID"; readonly detail: string}
  /** The store does not say what it takes to execute. */
  | {readonly failure: "NOT_AVAILABLE"; readonly detail: string}
  | {
      readonly failure: "LIMIT_EXCEEDED";
      readonly detail: string;
      readonly limit: number;
      readonly got: number;
    }
  /** Routed estimates only: the gateway did not answer. */
  | {readonly failure: "UPSTREAM_DOWN"; readonly detail: string};
