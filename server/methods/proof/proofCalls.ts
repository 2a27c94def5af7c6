/** The proofs that one request asks for, packed back to back (workers/messages/packedCall.ts). */
import {keyCountOf, mostPackedBytes} from "../../../workers/messages/packedCall.ts";
import {append, type LaneCalls} from "../../request/requestCalls.ts";

/**
 * Highest cost of one segment; an account or slot costs 1. A trip to a worker and back takes both threads 100 us. With
 * 64, a batch of 100 needed two trips and 1.18 times the CPU time. 128 proofs take a worker 2-3 ms, which is short
 * enough to be fair, and have 0.8-1.6 MB of text, which is small beside the window of a slow reader.
 */
export const PROOF_SEGMENT_COST = 128;

export class ProofCalls implements LaneCalls {
  ids: string[] = [];
  readonly segmentCost = PROOF_SEGMENT_COST;
  /** The packed calls. The next one is written at `end`. */
  readonly packed: Buffer;
  /** The answer to the only call is the bytes of a multiproof, and no JSON-RPC response. */
  isBytes = false;
  private ends: number[] = [];
  private costs: number[] = [];

  /** @param cost - of all calls that will be added, an account or slot 1 */
  constructor(cost: number) {
    this.packed = Buffer.allocUnsafe(mostPackedBytes(cost));
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

  costOf(call: number): number {
    return this.costs[call] as number;
  }

  slice(first: number, end: number): Uint8Array {
    return this.packed.subarray(this.ends[first - 1] ?? 0, this.ends[end - 1]);
  }
}
