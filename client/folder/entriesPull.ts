/** Accounts and slots of a pull that are named by their keys: verified multiproofs into rows, with the bytes that prove them. */
import type {ProofRequests} from "../pull/piece.ts";
import {type PulledProof, pullProofs} from "../pull/pullProofs.ts";
import {encodeEntries, rowsOfEntry} from "./provenEntries.ts";
import type {PullWork} from "./pullPlace.ts";

/** Addresses and storage keys of a proof. One takes a MiB at most, also in trees of a thousand million leaves. */
const KEYS_PER_PROOF = 500;

/**
 * Goes on from the place of the work.
 *
 * @param requests - the same as at the pull's beginning
 * @param keys - addresses and storage keys in all
 * @throws what pullProofs throws, after all proofs before
 */
export async function pullEntries(work: PullWork, requests: ProofRequests, keys: number): Promise<void> {
  const {client, block, signal} = work;
  const {entries: cursor} = work.place;
  const proofs = pullProofs(client, {requests, block, signal, keysPerProof: KEYS_PER_PROOF, cursor});
  let together: PulledProof[] = [];
  const tables = ["accounts", "absent", "values"] as const;
  let written = tables.reduce((sum, table) => sum + work.writer.rows(table), 0);
  const write = () => {
    if (together.length === 0) return;
    written += writeProof(work, together);
    work.progress.show("keys", {done: written, total: keys, unit: "keys"}, together.length);
    together = [];
  };
  try {
    for await (const one of proofs) {
      if (together[0]?.proof !== one.proof) write();
      together.push(one);
    }
  } finally {
    // The last proof, or the one before that which failed.
    write();
  }
}

/** @returns how many keys it proves */
function writeProof(work: PullWork, entries: readonly PulledProof[]): number {
  const {writer, suite} = work;
  const {proof, cursor} = entries.at(-1) as PulledProof;
  writer.add("proofs", {entries: encodeEntries(entries), proof});
  let rows = 0;
  for (const entry of entries)
    for (const {table, row} of rowsOfEntry(suite, entry, entry)) {
      writer.add(table, row as never);
      rows++;
    }
  work.place = {...work.place, entries: cursor};
  if (writer.isDue) writer.finishParts(work.place);
  return rows;
}
