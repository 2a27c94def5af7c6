/**
 * Jobs as the dispatcher makes them: calls of chain_getProof, packed.
 */

import {SEGMENT_COSTS} from "../../server/answer/segment.ts";
import {LaneId} from "../../server/dispatch/laneId.ts";
import {CALL_HEAD_BYTES, type ProveJob} from "../../workers/job/proveJob.ts";

/** Calls per task of a large batch (server/dispatch). */
export const CALLS_PER_TASK = SEGMENT_COSTS[LaneId.PROOF];

const SLOT_BYTES = 32;

export interface ProveCall {
  readonly block: number;
  readonly address: Uint8Array;
  /** 32 bytes; undefined = the account alone. */
  readonly slot?: Uint8Array | undefined;
}

export function packCalls(count: number, callAt: (i: number) => ProveCall): ProveJob {
  const calls = Buffer.alloc(count * (CALL_HEAD_BYTES + SLOT_BYTES));
  let at = 0;
  for (let i = 0; i < count; i++) {
    const {block, address, slot} = callAt(i);
    calls.writeUIntBE(block, at, 6);
    calls.set(address, at + 6);
    calls.writeUInt16BE(slot === undefined ? 0 : 1, at + 26);
    at += CALL_HEAD_BYTES;
    if (slot === undefined) continue;
    calls.set(slot, at);
    at += SLOT_BYTES;
  }
  return {calls: new Uint8Array(calls.subarray(0, at)), ids: Array.from({length: count}, (_, i) => `${i}`)};
}
