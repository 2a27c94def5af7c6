/** The calls of one request that threads of this process answer, packed back to back for their mailbox. */
import type {EstimateCall} from "../../workers/messages/estimateCall.ts";
import {keyCountOf} from "../../workers/messages/packedCall.ts";
import {packEstimate} from "../../workers/messages/packedEstimate.ts";
import {append, type LaneCalls} from "../request/requestCalls.ts";

/**
 * Highest cost of one segment; an account or slot costs 1. A trip to a worker and back takes both threads 100 us. With
 * 64, a batch of 100 needed two trips and 1.18 times the CPU time. 128 proofs take a worker 2-3 ms, which is short
 * enough to be fair, and have 0.8-1.6 MB of text, which is small beside the window of a slow reader.
 */
export const PROOF_SEGMENT_COST = 128;

const NO_BYTES = Buffer.alloc(0);

export class PackedCalls implements LaneCalls {
  ids: string[] = [];
  /** The packed calls. The next one is written at `end`. */
  packed: Buffer;
  /** The answer to the only call is the bytes of a multiproof, and no JSON-RPC response. */
  isBytes = false;
  private ends: number[] = [];
  private costs: number[] = [];

  /** @param bytes - of all calls that will be added, but for those of `putCall` */
  constructor(
    readonly segmentCost: number,
    bytes = 0,
  ) {
    this.packed = bytes === 0 ? NO_BYTES : Buffer.allocUnsafe(bytes);
  }

  get end(): number {
    return this.ends.at(-1) ?? 0;
  }

  /** Adds the call that was just packed. @param end - where it ends. @param cost - default: that of one account and its keys */
  add(end: number, cost = 1 + keyCountOf(end - this.end)): void {
    this.ends = append(this.ends, end);
    this.costs = append(this.costs, cost);
  }

  /** @param packed - a call. The cost of all has room for it */
  put(packed: Buffer, cost: number): void {
    packed.copy(this.packed, this.end);
    this.add(this.end + packed.length, cost);
  }

  /** Adds an estimate, or a call that is run once. */
  putCall(call: EstimateCall, cost: number): void {
    this.add(
      packEstimate(call, this.end, bytes => this.reserve(bytes)),
      cost,
    );
  }

  costOf(call: number): number {
    return this.costs[call] as number;
  }

  slice(first: number, end: number): Uint8Array {
    return this.packed.subarray(this.ends[first - 1] ?? 0, this.ends[end - 1]);
  }

  private reserve(bytes: number): Buffer {
    const {packed, end} = this;
    if (end + bytes > packed.length) {
      this.packed = Buffer.allocUnsafe(Math.max(end + bytes, 2 * packed.length));
      packed.copy(this.packed, 0, 0, end);
    }
    return this.packed;
  }
}
