/**
 * What differs between two blocks, as rows: leaves whose value differs. Those of which only the links differ have none.
 *
 *   entries of a proof   where its changes begin: u80, big-endian
 */
import {decodeHex} from "../bytes/hex.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {ChangeRange} from "../leaves/changeRange.ts";
import type {LeafChange} from "../leaves/foldChanges.ts";
import type {AccountLeaf, KeyedLeaf, SlotLeaf} from "../leaves/treeLeaf.ts";
import {rowOfAccountLeaf} from "./leafRows.ts";
import type {TableRow} from "./provenEntries.ts";
import type {RowsOf} from "./row/tables.ts";

/** Of each request, so that its proof can be verified again. */
export const LEAVES_PER_ANSWER = 4096;
const BEGIN_BYTES = 10;

export function encodeBegin(begin: bigint): Uint8Array {
  return new Uint8Array(Buffer.from(begin.toString(16).padStart(2 * BEGIN_BYTES, "0"), "hex"));
}

/** @throws Error for bytes that encodeBegin does not write */
export function decodeBegin(bytes: Uint8Array): bigint {
  if (bytes.length !== BEGIN_BYTES)
    throw new Error(`entries: expected ${BEGIN_BYTES} bytes, got ${bytes.length}`);
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}

/** The accounts, and the slots, each in their order. */
export function rowsOfChanges(
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
