/**
 * Jobs in the dispatcher's form: packed calls of chain_getProof and chain_getMultiProof.
 */
import {
  ADDRESS_AT,
  KEYS_AT,
  ProofForm,
  packedBytes,
  writeCallHead,
} from "../../workers/messages/packedCall.ts";
import type {ProveJob} from "../../workers/messages/proveJob.ts";
import type {Prover} from "../../workers/prove/prover.ts";

export interface ProveCall {
  readonly block: number;
  readonly address: Uint8Array;
  /** 32 bytes; undefined = only the account. */
  readonly slot?: Uint8Array | undefined;
}

export function packCalls(count: number, callAt: (i: number) => ProveCall): ProveJob {
  const calls = Buffer.alloc(count * packedBytes(1));
  let at = 0;
  for (let i = 0; i < count; i++) {
    const {block, address, slot} = callAt(i);
    const keyCount = slot === undefined ? 0 : 1;
    writeCallHead(calls, at, block, keyCount, ProofForm.PLAIN);
    calls.set(address, at + ADDRESS_AT);
    if (slot !== undefined) calls.set(slot, at + KEYS_AT);
    at += packedBytes(keyCount);
  }
  return {calls: new Uint8Array(calls.subarray(0, at)), ids: Array.from({length: count}, (_, i) => `${i}`)};
}

/** An account of a multiproof, with slots of 32 bytes. */
interface Entry {
  readonly address: Uint8Array;
  readonly slots: readonly Uint8Array[];
}

/** One call with these entries: of chain_getMultiProof, or of chain_getProof with one entry. */
export function packEntries(block: number, form: ProofForm, entries: readonly Entry[]): ProveJob {
  const calls = Buffer.alloc(entries.reduce((sum, {slots}) => sum + packedBytes(slots.length), 0));
  let at = 0;
  for (const [entry, {address, slots}] of entries.entries()) {
    writeCallHead(calls, at, block, slots.length, entry === 0 ? form : ProofForm.NEXT_ENTRY);
    calls.set(address, at + ADDRESS_AT);
    for (const [i, slot] of slots.entries()) calls.set(slot, at + KEYS_AT + i * slot.length);
    at += packedBytes(slots.length);
  }
  return {calls: new Uint8Array(calls), ids: ["0"]};
}

/** @returns the answers, without the comma after the last one. @throws Error if a call fails */
export function prove(prover: Prover, job: ProveJob): Uint8Array {
  const {text, failures} = prover.answer(job);
  if (failures.length > 0) throw new Error(failures[0]?.detail);
  return text.subarray(0, -1);
}
