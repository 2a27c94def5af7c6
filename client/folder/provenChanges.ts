/**
 * What differs between two blocks: pulled, written as rows beside the proof bytes, and verified again from those bytes.
 * A leaf whose value differs has a row; one whose links alone differ has none. Each proof is stored with its request:
 *
 *   entries of a proof   where its changes begin: u80, big-endian
 */
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {AnsweredBlock} from "../leaves/blockBytes.ts";
import {type ChangeRange, verifyChanges} from "../leaves/changeRange.ts";
import type {AccountLeaf} from "../leaves/treeLeaf.ts";
import {pullChanges} from "../pull/pullChanges.ts";
import {accountRow} from "./leafRows.ts";
import type {Manifest} from "./manifest.ts";
import {type Prover, type TableRow, writeProof} from "./provenEntries.ts";
import type {PullWork} from "./pullPlace.ts";
import type {RowsOf} from "./row/tables.ts";

/** Of each request, so that its proof can be verified again. */
const LEAVES_PER_ANSWER = 4096;
const BEGIN_BYTES = 10;

/** The accounts, and the slots, each in their order. */
function rowsOfChanges(
  suite: HashSuite,
  {accounts, storages}: Pick<ChangeRange, "accounts" | "storages">,
): TableRow[] {
  const rows: TableRow[] = [];
  for (const {before, after} of accounts) {
    const [old, young] = [before, after].map(leaf => (leaf?.role === "account" ? leaf : undefined));
    const known = old ?? young;
    if (known === undefined || (old && young && isEqual(old.hVal, young.hVal))) continue;
    const {leafIndex, address} = accountRow(suite, known);
    const row = {leafIndex, address, ...fieldsAt("Before", suite, old), ...fieldsAt("After", suite, young)};
    rows.push({table: "account_changes", row: row as RowsOf["account_changes"]});
  }
  for (const {account: accountIndex, address, slots} of storages)
    for (const {before, after} of slots) {
      const [old, young] = [before, after].map(leaf => (leaf?.role === "slot" ? leaf : undefined));
      const known = old ?? young;
      // No slot is stored as zero.
      if (known === undefined || old?.value === young?.value) continue;
      const {leafIndex, slot} = known;
      const values = {valueBefore: old?.value, valueAfter: young?.value};
      rows.push({
        table: "slot_changes",
        row: {accountIndex, address: decodeHex(address), leafIndex, slot, ...values},
      });
    }
  return rows;
}

function fieldsAt(side: "Before" | "After", suite: HashSuite, leaf: AccountLeaf | undefined): object {
  if (leaf === undefined) return {};
  const {leafIndex: _, address: __, ...fields} = accountRow(suite, leaf);
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key + side, value]));
}

/** Writes the changes from block `from` on, beginning at the place of the work. @throws as pullChanges */
export async function pullChangesFrom(work: PullWork, from: bigint): Promise<void> {
  const {client, block, signal, suite, leavesPerRange = LEAVES_PER_ANSWER} = work;
  const {changes: cursor} = work.place;
  const asked = {from, to: block, signal, leavesPerAnswer: leavesPerRange, cursor};
  const answers = pullChanges(client, {tree: "all", ...asked});
  for await (const answer of answers) {
    const digits = `0x${answer.begin.toString(16).padStart(2 * BEGIN_BYTES, "0")}`;
    const rows = rowsOfChanges(suite, answer);
    writeProof(work, decodeHex(digits), answer.proof, rows, {changes: answer.cursor});
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
      if (bytes.length !== BEGIN_BYTES)
        throw new Error(`entries: expected ${BEGIN_BYTES} bytes, got ${bytes.length}`);
      const begin = BigInt(encodeHex(bytes));
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
