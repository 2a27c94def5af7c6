/**
 * What differs between two blocks: pulled, written as rows beside the proof bytes, and verified again from those bytes.
 * A leaf whose value differs has a row; one whose links alone differ has none. Each proof is stored with its request:
 *
 *   entries of a proof   where its changes begin: u80, big-endian
 */

import {decodeHex} from "../bytes/hex.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {AnsweredBlock} from "../leaves/blockBytes.ts";
import {type ChangeRange, verifyChanges} from "../leaves/changeRange.ts";
import type {LeafChange} from "../leaves/foldChanges.ts";
import type {AccountLeaf, KeyedLeaf, SlotLeaf} from "../leaves/treeLeaf.ts";
import {pullChanges} from "../pull/pullChanges.ts";
import {rowOfAccountLeaf} from "./leafRows.ts";
import type {Manifest} from "./manifest.ts";
import type {Prover, TableRow} from "./provenEntries.ts";
import type {PullWork} from "./pullPlace.ts";
import type {RowsOf} from "./row/tables.ts";

/** Of each request, so that its proof can be verified again. */
const LEAVES_PER_ANSWER = 4096;
const BEGIN_BYTES = 10;

function encodeBegin(begin: bigint): Uint8Array {
  return new Uint8Array(Buffer.from(begin.toString(16).padStart(2 * BEGIN_BYTES, "0"), "hex"));
}

/** @throws Error for bytes that encodeBegin does not write */
function decodeBegin(bytes: Uint8Array): bigint {
  if (bytes.length !== BEGIN_BYTES)
    throw new Error(`entries: expected ${BEGIN_BYTES} bytes, got ${bytes.length}`);
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}

/** The accounts, and the slots, each in their order. */
function rowsOfChanges(
  suite: HashSuite,
  {accounts, storages}: Pick<ChangeRange, "accounts" | "storages">,
): TableRow[] {
  const rows: TableRow[] = [];
  for (const change of accounts) {
    const row = accountChange(suite, change);
    if (row !== undefined) rows.push({table: "account_changes", row});
  }
  for (const {account, address, slots} of storages)
    for (const change of slots) {
      const row = slotChange(account, address, change);
      if (row !== undefined) rows.push({table: "slot_changes", row});
    }
  return rows;
}

/** The leaves with a key of a change. @returns undefined if they have the same value */
function keyed<Keyed extends KeyedLeaf>(
  {before, after}: LeafChange<Keyed>,
  isSame: (before: Keyed, after: Keyed) => boolean,
):
  | {readonly before: Keyed | undefined; readonly after: Keyed | undefined; readonly known: Keyed}
  | undefined {
  const [old, young] = [before, after].map(leaf => (leaf?.role === "end" ? undefined : leaf)) as (
    | Keyed
    | undefined
  )[];
  const known = old ?? young;
  if (known === undefined || (old !== undefined && young !== undefined && isSame(old, young)))
    return undefined;
  return {before: old, after: young, known};
}

function accountChange(
  suite: HashSuite,
  change: LeafChange<AccountLeaf>,
): RowsOf["account_changes"] | undefined {
  const leaves = keyed(change, (old, young) => Buffer.compare(old.hVal, young.hVal) === 0);
  if (leaves === undefined) return undefined;
  const rowOf = (leaf: AccountLeaf | undefined) => leaf && rowOfAccountLeaf(suite, leaf);
  const [before, after] = [rowOf(leaves.before), rowOf(leaves.after)];
  const {leafIndex, address} = leaves.known;
  return {
    leafIndex,
    address: decodeHex(address),
    nonceBefore: before?.nonce,
    balanceBefore: before?.balance,
    storageRootBefore: before?.storageRoot,
    codeHashBefore: before?.codeHash,
    keccakCodeHashBefore: before?.keccakCodeHash,
    codeSizeBefore: before?.codeSize,
    nonceAfter: after?.nonce,
    balanceAfter: after?.balance,
    storageRootAfter: after?.storageRoot,
    codeHashAfter: after?.codeHash,
    keccakCodeHashAfter: after?.keccakCodeHash,
    codeSizeAfter: after?.codeSize,
  };
}

function slotChange(
  accountIndex: number,
  address: string,
  change: LeafChange<SlotLeaf>,
): RowsOf["slot_changes"] | undefined {
  const leaves = keyed(change, (old, young) => old.value === young.value);
  if (leaves === undefined) return undefined;
  const {leafIndex, slot} = leaves.known;
  return {
    accountIndex,
    address: decodeHex(address),
    leafIndex,
    slot,
    valueBefore: leaves.before?.value,
    valueAfter: leaves.after?.value,
  };
}

/** Writes the changes from block `from` on, beginning at the place of the work. @throws as pullChanges */
export async function pullChangesFrom(work: PullWork, from: bigint): Promise<void> {
  const {client, block, signal, writer, suite, leavesPerRange = LEAVES_PER_ANSWER} = work;
  const {changes: cursor} = work.place;
  const asked = {from, to: block, signal, leavesPerAnswer: leavesPerRange, cursor};
  const answers = pullChanges(client, {tree: "all", ...asked});
  for await (const answer of answers) {
    writer.add("proofs", {entries: encodeBegin(answer.begin), proof: answer.proof});
    const rows = rowsOfChanges(suite, answer);
    for (const {table, row} of rows) writer.add(table, row as never);
    work.place = {...work.place, changes: answer.cursor};
    if (writer.isDue) writer.finishParts(work.place);
    work.progress.show("changes", undefined, rows.length);
  }
}

/**
 * Each answer begins where the one before ends, and the last one ends where nothing else differs. No root commits to a
 * block's hash, so the newer block must have that of the manifest, and the older one the same hash in all answers.
 */
export function changesProver(suite: HashSuite, {block, asked}: Manifest): Prover {
  const roots = {from: decodeHex(asked.fromRoot), to: decodeHex(block.stateRoot)};
  let cursor: bigint | undefined = 0n;
  let fromHash: string | undefined;
  return {
    prove: (bytes, proof) => {
      const begin = decodeBegin(bytes);
      if (begin !== cursor) throw new Error(`entries: expected the changes from ${cursor} on, got ${begin}`);
      const request = {tree: "all", cursor: begin, count: LEAVES_PER_ANSWER};
      const changes = verifyChanges(suite, roots, request, proof);
      const {fromBlock, toBlock} = changes;
      fromHash ??= fromBlock.hash;
      requireBlock("fromBlock", fromBlock, asked.fromBlock, fromHash);
      requireBlock("toBlock", toBlock, block.number, block.hash);
      cursor = changes.end;
      return rowsOfChanges(suite, changes);
    },
    end: () => {
      if (cursor !== undefined) throw new Error(`expected a proof of the changes from ${cursor} on`);
    },
  };
}

function requireBlock(name: string, block: AnsweredBlock, number: number | undefined, hash: string): void {
  if (Number(block.number) === number && block.hash === hash) return;
  throw new Error(
    `${name}: expected block ${number} with hash ${hash}, got ${block.number} with ${block.hash}`,
  );
}
