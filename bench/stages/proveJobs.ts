/** Jobs as the dispatcher makes them: packed calls of chain_getProof and chain_getMultiProof. */

import type {PackedJob} from "../../workers/messages/jobMailbox.ts";
import {
  ADDRESS_AT,
  KEYS_AT,
  ProofForm,
  packedBytes,
  writeCallHead,
} from "../../workers/messages/packedCall.ts";
import type {Prover} from "../../workers/prove/prover.ts";

export interface Entry {
  readonly block: number;
  readonly address: Uint8Array;
  readonly slot?: Uint8Array | undefined;
}

export function packCalls(entries: readonly Entry[]): PackedJob {
  return packEntries(
    entries,
    () => ProofForm.PLAIN,
    entries.map((_, i) => `${i}`),
  );
}

export function packMultiProof(entries: readonly Entry[]): PackedJob {
  return packEntries(entries, i => (i === 0 ? ProofForm.MULTI_BYTES : ProofForm.NEXT_ENTRY), ["0"]);
}

function packEntries(
  entries: readonly Entry[],
  formOf: (i: number) => ProofForm,
  ids: readonly string[],
): PackedJob {
  const calls = Buffer.alloc(entries.length * packedBytes(1));
  let at = 0;
  for (const [i, {block, address, slot}] of entries.entries()) {
    const keyCount = slot === undefined ? 0 : 1;
    writeCallHead(calls, at, block, keyCount, formOf(i));
    calls.set(address, at + ADDRESS_AT);
    if (slot !== undefined) calls.set(slot, at + KEYS_AT);
    at += packedBytes(keyCount);
  }
  return {calls: new Uint8Array(calls.subarray(0, at)), ids};
}

/** @returns the answers without the trailing comma. @throws Error if a call fails */
export function prove(prover: Prover, job: PackedJob): Uint8Array {
  const {text, failures} = prover.answer(job);
  if (failures.length > 0) throw new Error(failures[0]?.detail);
  return text.subarray(0, -1);
}
