/** `proofd pull --verify`: computes the roots from the rows of a folder, and verifies its stored proofs. */
import {keccak_256} from "@noble/hashes/sha3.js";
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {HASH_SUITES, type HashSuite} from "../hash/hashSuites.ts";
import {listCodes} from "./codesPull.ts";
import {hashesOfAccount, hashesOfSlot} from "./leafRows.ts";
import type {Manifest} from "./manifest.ts";
import {checkEncoding} from "./partFile.ts";
import {changesProver} from "./provenChanges.ts";
import {entriesProver, type Prover} from "./provenEntries.ts";
import {at, damaged} from "./pulledError.ts";
import {readRows} from "./readRows.ts";
import {encodeCell} from "./row/column.ts";
import {type AccountRow, type AnyRow, TABLES, type TableName, type TreeRow} from "./row/tables.ts";
import {TableReader} from "./tableReader.ts";
import {TreeFolding} from "./treeFolding.ts";

/** Memory: some thousand rows, and 76 to 152 bytes for each leaf of the largest tree. @throws PulledError DAMAGED */
export async function checkFolder(folder: string, manifest: Manifest): Promise<void> {
  for (const part of manifest.parts) await checkEncoding(folder, part, manifest.asked.format);
  const suite = HASH_SUITES.find(({name}) => name === manifest.asked.suite) as HashSuite;
  if (manifest.asked.pulled === "changes")
    return checkProofs(folder, manifest, changesProver(suite, manifest));
  await checkCodes(folder, manifest);
  if (manifest.accountTree === undefined) await checkProofs(folder, manifest, entriesProver(suite, manifest));
  await checkTrees(folder, manifest, suite);
}

/** Each code once, in the order of the first account that has it. Memory: 100 bytes for each code. */
async function checkCodes(folder: string, manifest: Manifest): Promise<void> {
  if (manifest.asked.pulled !== "all") return;
  const expected = await listCodes(new TableReader(folder, manifest, "accounts"));
  const codes = new TableReader(folder, manifest, "codes");
  try {
    for (const wanted of expected) {
      const row = await codes.next();
      const hash = row && encodeHex(keccak_256(row.code));
      if (hash !== wanted || encodeHex(row?.keccakCodeHash ?? new Uint8Array()) !== wanted)
        throw damaged(codes.place, `expected the code ${wanted}, got ${hash ?? "no more"}`);
    }
    if ((await codes.next()) !== undefined) throw codes.refusal("no account has the code");
  } finally {
    await codes.close();
  }
}

/** Every tree must have the root that its account commits to, or the trusted root. */
async function checkTrees(folder: string, manifest: Manifest, suite: HashSuite): Promise<void> {
  // Read in parallel with the trees, which are in the same order.
  const accounts = new TableReader(folder, manifest, "accounts");
  const nextOwner = async (): Promise<AccountRow | undefined> => {
    let row = await accounts.next();
    while (row !== undefined && row.storageRoot === undefined) row = await accounts.next();
    return row;
  };
  let folding = new TreeFolding(suite);
  let current: {readonly root: Uint8Array; readonly nextFreeNode: number; readonly place: string} | undefined;
  const endTree = () => {
    if (current === undefined) return;
    const {root, nextFreeNode, place} = current;
    const folded = at(place, () => folding.fold(nextFreeNode));
    if (!isEqual(folded, root))
      throw damaged(place, `expected leaves with the root ${encodeHex(root)}, got ${encodeHex(folded)}`);
    folding = new TreeFolding(suite);
    current = undefined;
  };
  try {
    for await (const one of readRows(folder, manifest)) {
      if (one.kind === "accountTree") {
        const root = decodeHex(manifest.block.stateRoot);
        current = {root, nextFreeNode: one.tree.nextFreeNode, place: `${folder}, the account tree`};
      } else if (one.kind === "storageTree") {
        endTree();
        checkOwner(await nextOwner(), one.tree, one.place);
        current = {root: one.tree.root, nextFreeNode: one.tree.nextFreeNode, place: one.place};
      } else {
        const {row, place} = one;
        const hashes =
          one.kind === "account" ? hashesOfAccount(suite, one.row) : hashesOfSlot(suite, one.row);
        at(place, () => folding.add(row.leafIndex, hashes));
      }
    }
    endTree();
    const {pulled} = manifest.asked;
    const owner = pulled === "all" || pulled === "storage" ? await nextOwner() : undefined;
    if (owner !== undefined)
      throw damaged(accounts.place, `expected the storage tree of the account at ${owner.leafIndex}`);
  } finally {
    await accounts.close();
  }
}

/** @param owner - the next account with storage. @throws PulledError if the tree is another one's */
function checkOwner(owner: AccountRow | undefined, tree: TreeRow, place: string): void {
  const {accountIndex, address, root} = tree;
  if (owner?.leafIndex !== accountIndex)
    throw damaged(
      place,
      `account_index: expected ${owner?.leafIndex ?? "none"}, the next account with storage, got ${accountIndex}`,
    );
  if (!isEqual(owner.address, address)) throw damaged(place, "address: expected that of the account");
  if (owner.storageRoot === undefined || !isEqual(owner.storageRoot, root))
    throw damaged(place, "root: expected the storage_root of the account");
}

/** The rows must be exactly what the proofs prove. */
async function checkProofs(folder: string, manifest: Manifest, prover: Prover): Promise<void> {
  const names: readonly TableName[] = ["accounts", "absent", "values", "account_changes", "slot_changes"];
  const readers = new Map(names.map(name => [name, new TableReader(folder, manifest, name)]));
  const proofs = new TableReader(folder, manifest, "proofs");
  try {
    for await (const {entries, proof} of proofs) {
      for (const expected of at(proofs.place, () => prover.prove(entries, proof))) {
        const reader = readers.get(expected.table) as TableReader<TableName>;
        const row = await reader.next();
        if (row === undefined || rowText(expected.table, row) !== rowText(expected.table, expected.row))
          throw damaged(reader.place, `expected the row that ${proofs.place} proves`);
      }
    }
    at(proofs.place, () => prover.end());
    for (const reader of readers.values())
      if ((await reader.next()) !== undefined) throw reader.refusal("no proof proves the row");
  } finally {
    for (const reader of readers.values()) await reader.close();
  }
}

function rowText(table: TableName, row: AnyRow): string {
  const cells = TABLES[table].columns.map(({kind, key}) => {
    const value = row[key];
    return value === undefined ? "" : encodeCell(kind, value);
  });
  return cells.join(",");
}
