/**
 * A segment: neighbouring calls of one HTTP request that go to a worker together and whose answers are one range of the
 * response. Calls that are answered without a worker (errors, other methods) lie in between as ready texts.
 *
 *   slots     | proof | proof | "ready" | proof | proof | ...        in request order, notifications left out
 *   segments  |<------ 0 ----------------------->|<-- 1 ...          each about TASK_COST
 *   calls     |   0   |   1   |         |   2   |   3   | ...        packed back to back in `packed`
 */
import {type Answers, CALL_HEAD_BYTES} from "../../workers/job.ts";

/**
 * Cost of one task, an account or slot 1. A trip to a worker costs 13-20 us, which 64 units share (0.7-1.2 us each,
 * measurements.md), and 64 proofs take a worker 2-3 ms: small enough to be fair between requests, and its 400-800 KB of
 * text is small against the window of a slow reader.
 */
export const TASK_COST = 64;

/** A slot that a worker answers; any other slot holds its finished response object, without a comma. */
export const PROOF_SLOT = null;

export interface ProofCalls {
  readonly slots: readonly (string | typeof PROOF_SLOT)[];
  /** JSON text of each proof call's id. */
  readonly ids: readonly string[];
  /** All proof calls as workers/job.ts packs them. */
  readonly packed: Uint8Array;
  /** End of each proof call in `packed`. */
  readonly ends: readonly number[];
}

/** Half-open ranges of slots and of proof calls. */
export interface Segment {
  readonly firstSlot: number;
  readonly endSlot: number;
  readonly firstCall: number;
  readonly endCall: number;
  readonly cost: number;
}

/** Cost of call `call`, told from the length of its packed form. */
export function costOfCall(calls: ProofCalls, call: number): number {
  const start = call === 0 ? 0 : (calls.ends[call - 1] as number);
  return 1 + ((calls.ends[call] as number) - start - CALL_HEAD_BYTES) / 32;
}

/** Cuts so that no segment exceeds TASK_COST, except for a single call that does. Every segment has a proof call. */
export function cutSegments(calls: ProofCalls): Segment[] {
  const segments: Segment[] = [];
  const {slots, ids} = calls;
  let firstSlot = 0;
  let firstCall = 0;
  let call = 0;
  let cost = 0;
  for (let slot = 0; slot < slots.length; slot++) {
    if (slots[slot] !== PROOF_SLOT) continue;
    const callCost = costOfCall(calls, call);
    if (cost > 0 && cost + callCost > TASK_COST) {
      segments.push({firstSlot, endSlot: slot, firstCall, endCall: call, cost});
      firstSlot = slot;
      firstCall = call;
      cost = 0;
    }
    cost += callCost;
    call++;
  }
  segments.push({firstSlot, endSlot: slots.length, firstCall, endCall: ids.length, cost});
  return segments;
}

/**
 * The segment's part of the response: each response object followed by a comma, as few pieces as possible.
 *
 * @param answers - of the task that the segment was in
 * @param base - index in `answers` of the segment's first call
 * @param encodeFailure - the response object of a call of which `answers` has an empty range; `call` as in `answers`
 */
export function assembleAnswers(
  calls: ProofCalls,
  segment: Segment,
  answers: Answers,
  base: number,
  encodeFailure: (call: number, idText: string) => string,
): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = base === 0 ? 0 : (answers.ends[base - 1] as number);
  let to = from;
  let call = base;
  for (let slot = segment.firstSlot; slot < segment.endSlot; slot++) {
    let text = calls.slots[slot] as string | null;
    if (text === PROOF_SLOT) {
      const end = answers.ends[call] as number;
      if (end > to) {
        to = end;
        call++;
        continue;
      }
      text = encodeFailure(call, calls.ids[segment.firstCall + call - base] as string);
      call++;
    }
    if (to > from) pieces.push(answers.text.subarray(from, to));
    from = to;
    pieces.push(Buffer.from(`${text},`));
  }
  if (to > from) pieces.push(answers.text.subarray(from, to));
  return pieces;
}

/** The same where no worker answered: every proof call of the segment has the same error. */
export function assembleErrors(
  calls: ProofCalls,
  segment: Segment,
  encodeFailure: (idText: string) => string,
): Uint8Array[] {
  const texts: string[] = [];
  let call = segment.firstCall;
  for (let slot = segment.firstSlot; slot < segment.endSlot; slot++) {
    const text = calls.slots[slot] as string | null;
    texts.push(text === PROOF_SLOT ? encodeFailure(calls.ids[call++] as string) : text, ",");
  }
  return [Buffer.from(texts.join(""))];
}
