/**
 * The first half of a multiproof: finds where the keys of a call are, and makes the key tables of all parts of it.
 *
 *   units -> hKeys -> places -> by tree: fillTable (storage/tree/keyTable.ts)
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {LEAVES_PER_PAGE} from "../../storage/page/geometry.ts";
import {entryValue} from "../../storage/page/leafPage.ts";
import {type Account, decodeStoredAccount} from "../../storage/tree/account.ts";
import {FIRST_FREE_NODE} from "../../storage/tree/emptyTree.ts";
import {fillTable, type KeyPlaces, locateKey, PRESENT} from "../../storage/tree/keyTable.ts";
import {LeafPageView} from "../../storage/tree/leafPageView.ts";
import {storageTree, type Tree} from "../../storage/tree/tree.ts";
import type {MultiTables} from "../job/multiTables.ts";
import {ADDRESS_AT, KEYS_AT, readKeyCount} from "../job/packedCall.ts";

const ADDRESS_BYTES = 20;

/** The hKey of an entry's address. */
export function entryHKey({suite}: StateReader, call: Buffer, entry: number): Uint8Array {
  const at = entry + ADDRESS_AT;
  return suite.hashAddress(call.subarray(at, at + ADDRESS_BYTES));
}

/** A storage tree to which only zeros were written has the root of a new tree, and stands as no storage. */
export function decodeAccount(stored: Uint8Array): Account {
  const account = decodeStoredAccount(stored);
  const isNew = account.storage?.tree.nextFreeNode === FIRST_FREE_NODE;
  return isNew ? {...account, storage: undefined} : account;
}

/**
 * Finds units `from` to before `end`. Hot: runs once per key.
 *
 * @param keepsPages - keeps leaf pages in the tables
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function locateUnits(
  store: StateReader,
  accounts: Tree,
  tables: MultiTables,
  [from, end]: readonly [number, number],
  keepsPages: boolean,
): void {
  const {call, places, pages} = tables;
  const view = new LeafPageView();
  const scratch = {lefts: new Float64Array(1), rights: new Float64Array(1)};
  let unit = 0;
  for (const entry of tables.entries) {
    const slots = unit + 1;
    const next = slots + readKeyCount(call, entry);
    if (next > from && unit < end) {
      const hKey = entryHKey(store, call, entry);
      locateKey(accounts, view, hKey, scratch, 0);
      const {page} = view;
      const leafIndex = scratch.lefts[0] as number;
      if (unit >= from) {
        places.lefts[unit] = leafIndex;
        places.rights[unit] = scratch.rights[0] as number;
        if (keepsPages) pages[unit] = page;
      }
      const firstSlot = Math.max(slots, from);
      const endSlot = Math.min(next, end);
      const account =
        page === undefined || firstSlot >= endSlot
          ? undefined
          : decodeAccount(entryValue(page, leafIndex % LEAVES_PER_PAGE));
      const storage = account?.storage;
      const tree = storage === undefined ? undefined : storageTree(store, storage.tree, hKey);
      for (let slot = firstSlot; slot < endSlot; slot++) {
        if (tree === undefined) tables.setNoTree(slot);
        else {
          const at = entry + KEYS_AT + (slot - slots) * WORD_BYTES;
          locateKey(tree, view, store.suite.hashSlot(call.subarray(at, at + WORD_BYTES)), places, slot);
          if (keepsPages) pages[slot] = view.page;
        }
      }
    }
    unit = next;
  }
}

/** Makes the tables of all parts. All units must be located. */
export function makeTables(tables: MultiTables): void {
  const {call, entries, leavesAt, keysAt, leftNumbers, rightNumbers} = tables;
  const entryUnits: number[] = [];
  let unit = 0;
  for (const entry of entries) {
    entryUnits.push(unit);
    unit += 1 + readKeyCount(call, entry);
  }
  let leaves = fillPart(tables, entryUnits, 0, 0);
  let keys = entries.length;
  tables.accountLeaves = leaves;
  const entriesOf: number[][] = Array.from({length: leaves}, () => []);
  for (let entry = 0; entry < entries.length; entry++)
    if (rightNumbers[entry] === PRESENT) entriesOf[leftNumbers[entry] as number]?.push(entry);
  for (let leaf = 0; leaf < tables.accountLeaves; leaf++) {
    leavesAt[leaf] = leaves;
    keysAt[leaf] = keys;
    const units: number[] = [];
    for (const entry of entriesOf[leaf] as readonly number[]) {
      const first = (entryUnits[entry] as number) + 1;
      const end = first + readKeyCount(call, entries[entry] as number);
      for (let slot = first; slot < end && tables.hasTree(slot); slot++) units.push(slot);
    }
    if (units.length > 0) leaves += fillPart(tables, units, leaves, keys);
    keys += units.length;
  }
  leavesAt[tables.accountLeaves] = leaves;
  keysAt[tables.accountLeaves] = keys;
}

/** Makes the table of one part. @param units - its keys. @returns how many leaves it has */
function fillPart(tables: MultiTables, units: readonly number[], leaves: number, keys: number): number {
  const {places, leafIndexes, ownKeys, keyUnits, leftNumbers, rightNumbers} = tables;
  const count = units.length;
  const own: KeyPlaces = {lefts: new Float64Array(count), rights: new Float64Array(count)};
  for (let key = 0; key < count; key++) {
    const unit = units[key] as number;
    own.lefts[key] = places.lefts[unit] as number;
    own.rights[key] = places.rights[unit] as number;
    keyUnits[keys + key] = unit;
  }
  return fillTable(own, {
    lefts: leftNumbers.subarray(keys, keys + count),
    rights: rightNumbers.subarray(keys, keys + count),
    leafIndexes: leafIndexes.subarray(leaves, leaves + 2 * count),
    ownKeys: ownKeys.subarray(leaves, leaves + 2 * count),
  });
}
