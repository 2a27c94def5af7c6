/**
 * Accounts and slots that were requested by their keys: pulled as multiproofs, written as rows beside the proof bytes,
 * and verified again from those bytes. Each proof is stored with the bytes of its request:
 *
 *   entries   address 20 | count of keys u16 | keys, 32 bytes each | address ..
 */

import {joinBytes} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {verifyMultiProof} from "../compact/compactProof.ts";
import {type HashSuite, word} from "../hash/hashSuites.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import type {ProofRequests} from "../pull/piece.ts";
import {type PulledProof, pullProofs} from "../pull/pullProofs.ts";
import {accountRow} from "./leafRows.ts";
import type {Manifest} from "./manifest.ts";
import type {PullPlace, PullWork} from "./pullPlace.ts";
import type {RowsOf, TableName} from "./row/tables.ts";

export type TableRow = {
  readonly [Name in TableName]: {readonly table: Name; readonly row: RowsOf[Name]};
}[TableName];

const ADDRESS_BYTES = 20;
const COUNT_BYTES = 2;
const KEY_BYTES = 32;

function encodeEntries(entries: readonly ProofRequest[]): Uint8Array {
  return joinBytes(
    entries.flatMap(({address, storageKeys}) => [
      decodeHex(address.toLowerCase()),
      new Uint8Array([storageKeys.length >> 8, storageKeys.length & 0xff]),
      ...storageKeys.map(key => word(BigInt(key))),
    ]),
  );
}

function decodeEntries(bytes: Uint8Array): ProofRequest[] {
  const entries: ProofRequest[] = [];
  for (let at = 0; at < bytes.length; ) {
    const address = encodeHex(bytes.subarray(at, at + ADDRESS_BYTES));
    at += ADDRESS_BYTES;
    const count = 256 * (bytes[at] ?? Number.NaN) + (bytes[at + 1] ?? Number.NaN);
    at += COUNT_BYTES;
    if (!(at + count * KEY_BYTES <= bytes.length)) throw new Error("entries: end in the middle of one");
    const storageKeys: string[] = [];
    for (let i = 0; i < count; i++, at += KEY_BYTES)
      storageKeys.push(encodeHex(bytes.subarray(at, at + KEY_BYTES)));
    entries.push({address, storageKeys});
  }
  return entries;
}

function rowsOfEntry(
  suite: HashSuite,
  {address, storageKeys}: ProofRequest,
  {account, slots}: Proven,
): TableRow[] {
  const name = address.toLowerCase();
  const bytes = decodeHex(name);
  const own: TableRow =
    account === undefined
      ? {table: "absent", row: {address: bytes}}
      : {table: "accounts", row: accountRow(suite, {leafIndex: account.leafIndex, address: name, account})};
  const values = storageKeys.map((key, i) => ({address: bytes, slot: BigInt(key), value: slots[i] ?? 0n}));
  return [own, ...values.map((row): TableRow => ({table: "values", row}))];
}

/** Addresses and storage keys of a proof. One takes a MiB at most, also in trees of a thousand million leaves. */
const KEYS_PER_PROOF = 500;

/** Begins at the place of the work. @param keys - addresses and storage keys in all. @throws as pullProofs */
export async function pullEntries(work: PullWork, requests: ProofRequests, keys: number): Promise<void> {
  const {client, block, signal} = work;
  const {entries: cursor} = work.place;
  const proofs = pullProofs(client, {requests, block, signal, keysPerProof: KEYS_PER_PROOF, cursor});
  let together: PulledProof[] = [];
  const tables = ["accounts", "absent", "values"] as const;
  let written = tables.reduce((sum, table) => sum + work.writer.rows(table), 0);
  const write = () => {
    const last = together.at(-1);
    if (last === undefined) return;
    const rows = together.flatMap(entry => rowsOfEntry(work.suite, entry, entry));
    writeProof(work, encodeEntries(together), last.proof, rows, {entries: last.cursor});
    written += rows.length;
    work.progress.show("keys", {done: written, total: keys, unit: "keys"}, together.length);
    together = [];
  };
  try {
    for await (const one of proofs) {
      if (together[0]?.proof !== one.proof) write();
      together.push(one);
    }
  } finally {
    // The last proof, or the one before the proof that failed.
    write();
  }
}

/** @param entries - the request's bytes. @param rows - what the proof proves. @param next - where the pull continues */
export function writeProof(
  work: PullWork,
  entries: Uint8Array,
  proof: Uint8Array,
  rows: readonly TableRow[],
  next: Pick<PullPlace, "entries"> | Pick<PullPlace, "changes">,
): void {
  const {writer} = work;
  writer.add("proofs", {entries, proof});
  for (const {table, row} of rows) writer.add(table, row as never);
  work.place = {...work.place, ...next};
  if (writer.isDue) writer.finishParts(work.place);
}

/** What proves the rows of a folder without a complete account tree: its stored proofs, one after the other. */
export interface Prover {
  /** @throws Error if the proof proves something else than what was asked for */
  prove(entries: Uint8Array, proof: Uint8Array): readonly TableRow[];
  /** @throws Error if something is left to prove */
  end(): void;
}

/** Every account whose storage was requested must have a proof. For "keys", the proofs alone have the keys. */
export function entriesProver(suite: HashSuite, {block, asked}: Manifest): Prover {
  const root = decodeHex(block.stateRoot);
  const unproven = new Set(asked.addresses);
  return {
    prove: (bytes, proof) => {
      const entries = decodeEntries(bytes);
      const proven = verifyMultiProof(suite, root, entries, proof);
      for (const {address} of entries) unproven.delete(address);
      return entries.flatMap((entry, i) => rowsOfEntry(suite, entry, proven[i] as Proven));
    },
    end: () => {
      if (unproven.size > 0) throw new Error(`expected a proof of the account ${[...unproven][0]}`);
    },
  };
}
