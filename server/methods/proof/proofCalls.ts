/** The proofs that one request asks for, packed back to back (workers/job/packedCall.ts). */
import {keyCountOf, packedBytes} from "../../../workers/job/packedCall.ts";
import type {LaneCalls} from "../../answer/requestCalls.ts";

/**
 * Cost of one segment, an account or slot 1: a trip to a worker and back takes 100 us of both threads where they wait for each
 * other, which up to 128 units share: with 64, a batch of 100 took two, and 1.18 times the CPU time. 128 proofs take a worker
 * 2-3 ms: small enough to be fair between requests, and their 0.8-1.6 MB of text is small against the window of a slow reader.
 */
export const PROOF_SEGMENT_COST = 128;

export class ProofCalls implements LaneCalls {
  readonly ids: string[] = [];
  readonly segmentCost = PROOF_SEGMENT_COST;
  /** Written from `end` on. */
  readonly packed: Buffer;
  /** End of each call in `packed`. */
  private readonly ends: number[] = [];

  /** @param cost - of all calls that will be added, an account or slot 1 */
  constructor(cost: number) {
    // What comes before the keys of a call is shorter than a key, so this has room for any division into calls.
    this.packed = Buffer.allocUnsafe(packedBytes(cost));
  }

  /** Where the next call begins. */
  get end(): number {
    return this.ends.at(-1) ?? 0;
  }

  /** A call was packed from `end` to here. */
  add(end: number): void {
    this.ends.push(end);
  }

  /** Told from the length of its packed form. */
  costOf(call: number): number {
    return 1 + keyCountOf((this.ends[call] as number) - this.startOf(call));
  }

  /** Calls `first` to `end`, packed; a view. */
  slice(first: number, end: number): Uint8Array {
    return this.packed.subarray(this.startOf(first), this.ends[end - 1]);
  }

  private startOf(call: number): number {
    return call === 0 ? 0 : (this.ends[call - 1] as number);
  }
}
