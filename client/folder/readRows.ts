/** Reads a complete pull: the account tree, then the storage trees, each with its leaves in index order. */
import {isEqual} from "../bytes/byteString.ts";
import {count} from "../bytes/values.ts";
import {type AccountTree, type Manifest, readManifest} from "./manifest.ts";
import {damaged} from "./pulledError.ts";
import type {AccountRow, SlotRow, TreeRow} from "./row/tables.ts";
import {TableReader} from "./tableReader.ts";

/** A tree comes before its leaves. `place` is the file and the number of a row, for messages. */
export type PulledRow =
  | {readonly kind: "accountTree"; readonly tree: AccountTree}
  | {readonly kind: "account"; readonly row: AccountRow; readonly place: string}
  | {readonly kind: "storageTree"; readonly tree: TreeRow; readonly place: string}
  | {readonly kind: "slot"; readonly row: SlotRow; readonly place: string};

/** Head and tail come before all leaves that have a key. */
const FIRST_LEAF = 2;

/**
 * Reads the complete trees of a folder. Checks the sha-256 of every part before its first row, the order of the rows,
 * and their number in each tree. The caller must check the trees' roots. Memory: some thousand rows.
 *
 * @throws PulledError DAMAGED that names the file and the row, NO_PULL for a folder that is not complete, FILE_FAILED
 */
export async function* readRows(
  folder: string,
  manifest: Manifest = readManifest(folder),
): AsyncGenerator<PulledRow, void, void> {
  const {accountTree} = manifest;
  if (accountTree !== undefined) {
    const accounts = new TableReader(folder, manifest, "accounts");
    yield {kind: "accountTree", tree: accountTree};
    let last = FIRST_LEAF - 1;
    let leaves = 0;
    for await (const row of accounts) {
      last = checkIndex(accounts, row.leafIndex, last, accountTree.nextFreeNode);
      leaves++;
      yield {kind: "account", row, place: accounts.place};
    }
    if (leaves !== accountTree.leaves)
      throw damaged(folder, `expected ${count(accountTree.leaves, "row")} in accounts, got ${leaves}`);
  }
  const trees = new TableReader(folder, manifest, "trees");
  const slots = new TableReader(folder, manifest, "slots");
  let lastAccount = -1;
  try {
    for await (const tree of trees) {
      const {accountIndex, address, leaves, nextFreeNode} = tree;
      // The trees of a pull of "storage" are in the order of its addresses.
      const isOrdered = manifest.asked.pulled === "storage" || accountIndex > lastAccount;
      if (!isOrdered)
        throw trees.refusal(`account_index: expected more than ${lastAccount}, got ${accountIndex}`);
      lastAccount = accountIndex;
      yield {kind: "storageTree", tree, place: trees.place};
      let last = FIRST_LEAF - 1;
      for (let i = 0; i < leaves; i++) {
        const row = await slots.next();
        if (row === undefined)
          throw trees.refusal(`leaves: expected ${count(leaves, "row")} in slots, got ${i} before their end`);
        if (row.accountIndex !== accountIndex)
          throw slots.refusal(
            `account_index: expected ${accountIndex}, of leaf ${i + 1} of ${leaves}, got ${row.accountIndex}`,
          );
        if (!isEqual(row.address, address)) throw slots.refusal("address: expected that of its tree");
        last = checkIndex(slots, row.leafIndex, last, nextFreeNode);
        if (row.value === 0n) throw slots.refusal("value: expected one above zero, got zero");
        yield {kind: "slot", row, place: slots.place};
      }
    }
    if ((await slots.next()) !== undefined)
      throw slots.refusal("expected no more rows than the trees have leaves");
  } finally {
    await slots.close();
  }
}

/** @returns the index. @param last - of the leaf before */
function checkIndex(
  reader: TableReader<"accounts" | "slots">,
  leafIndex: number,
  last: number,
  nextFreeNode: number,
): number {
  if (leafIndex <= last) throw reader.refusal(`leaf_index: expected more than ${last}, got ${leafIndex}`);
  if (leafIndex >= nextFreeNode)
    throw reader.refusal(
      `leaf_index: expected less than ${nextFreeNode}, the tree's next free one, got ${leafIndex}`,
    );
  return leafIndex;
}
