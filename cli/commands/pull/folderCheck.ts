/** `proofd pull --verify`: makes the roots again from the rows of a folder, and checks the proofs that it keeps. */
import {isEqual} from "../../../client/bytes/byteString.ts";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {verifyMultiProof} from "../../../client/compact/compactProof.ts";
import {HASH_SUITES, type HashSuite} from "../../../client/hash/hashSuites.ts";
import {verifyChanges} from "../../../client/leaves/changeRange.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import type {Proven} from "../../../client/proof/proofVerifier.ts";
import type {Manifest} from "../../../pulled/folder/manifest.ts";
import {readRows} from "../../../pulled/folder/readRows.ts";
import {TableReader} from "../../../pulled/folder/tableReader.ts";
import {PulledError} from "../../../pulled/pulledError.ts";
import {encodeCell} from "../../../pulled/row/column.ts";
import {
  type AccountRow,
  type AnyRow,
  TABLES,
  type TableName,
  type TreeRow,
} from "../../../pulled/row/tables.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {hashesOfAccount, hashesOfSlot} from "./leafRows.ts";
import {decodeBegin, LEAVES_PER_ANSWER, rowsOfChanges} from "./provenChanges.ts";
import {decodeEntries, rowsOfEntry, type TableRow} from "./provenEntries.ts";
import {TreeFolding} from "./treeFolding.ts";

/**
 * Memory: some thousand rows, and 76 to 152 bytes for each leaf of the largest tree.
 *
 * @throws PulledError DAMAGED that says what does not verify, and where it stands
 */
export async function checkFolder(folder: string, manifest: Manifest): Promise<void> {
  const suite = HASH_SUITES.find(({name}) => name === manifest.order.suite) as HashSuite;
  if (manifest.order.pulled === "changes")
    return checkProofs(folder, manifest, changesProver(suite, manifest));
  await checkCodes(folder, manifest);
  if (manifest.accountTree === undefined) await checkProofs(folder, manifest, entriesProver(suite, manifest));
  await checkTrees(folder, manifest, suite);
}

/** That every account's code is there shows when a store is made of the pull. */
async function checkCodes(folder: string, manifest: Manifest): Promise<void> {
  const codes = new TableReader(folder, manifest, "codes");
  for (let row = await codes.next(); row !== undefined; row = await codes.next()) {
    const hash = keccak256(row.code);
    if (!isEqual(hash, row.keccakCodeHash))
      throw damaged(codes.place, `keccak_code_hash: expected ${encodeHex(hash)}, that of the code`);
  }
}

/** Every tree that is there has the root that its owner says. */
async function checkTrees(folder: string, manifest: Manifest, suite: HashSuite): Promise<void> {
  const stored = new StoredOwners(folder, manifest);
  let folding = new TreeFolding(suite);
  let current: {readonly root: Uint8Array; readonly nextFreeNode: number; readonly place: string} | undefined;
  const endTree = () => {
    if (current === undefined) return;
    const {root, nextFreeNode, place} = current;
    const folded = at(place, () => folding.fold(nextFreeNode));
    if (!isEqual(folded, root))
      throw damaged(place, `expected leaves that make the root ${encodeHex(root)}, got ${encodeHex(folded)}`);
    folding = new TreeFolding(suite);
    current = undefined;
  };
  for await (const one of readRows(folder, manifest)) {
    if (one.kind === "accountTree") {
      const root = decodeHex(manifest.block.stateRoot);
      current = {root, nextFreeNode: one.tree.nextFreeNode, place: `${folder}, the account tree`};
    } else if (one.kind === "storageTree") {
      endTree();
      await stored.check(one.tree, one.place);
      current = {root: one.tree.root, nextFreeNode: one.tree.nextFreeNode, place: one.place};
    } else {
      const {row, place} = one;
      const hashes = one.kind === "account" ? hashesOfAccount(suite, one.row) : hashesOfSlot(suite, one.row);
      at(place, () => folding.add(row.leafIndex, hashes));
    }
  }
  endTree();
  await stored.end();
}

/** The accounts that have storage, read beside their trees. */
class StoredOwners {
  private readonly accounts: TableReader<"accounts">;
  private readonly isInOrder: boolean;
  /** Of a pull of some accounts, those that have no tree yet, by leaf index. */
  private readonly waiting = new Map<number, AccountRow>();

  constructor(
    folder: string,
    private readonly manifest: Manifest,
  ) {
    this.accounts = new TableReader(folder, manifest, "accounts");
    this.isInOrder = manifest.order.pulled === "all";
  }

  /** @throws PulledError if the tree is not that of the next account with storage, or of none that was asked for */
  async check(tree: TreeRow, place: string): Promise<void> {
    const owner = await this.find(tree.accountIndex);
    if (owner === undefined || owner.leafIndex !== tree.accountIndex)
      throw damaged(
        place,
        `account_index: expected ${owner?.leafIndex ?? "none"}, the next account with storage, got ${tree.accountIndex}`,
      );
    const {address, storageRoot} = owner;
    if (address === undefined || !isEqual(address, tree.address))
      throw damaged(place, "address: expected that of the account");
    if (storageRoot === undefined || !isEqual(storageRoot, tree.root))
      throw damaged(place, "root: expected the storage_root of the account");
  }

  /** @throws PulledError if an account's tree is missing */
  async end(): Promise<void> {
    if (!this.hasTrees) return;
    if (!this.isInOrder) await this.readWaiting();
    const owner = this.isInOrder ? await this.next() : [...this.waiting.values()][0];
    if (owner !== undefined)
      throw damaged(this.accounts.place, `expected the storage tree of the account at ${owner.leafIndex}`);
  }

  private get hasTrees(): boolean {
    const {pulled} = this.manifest.order;
    return pulled === "all" || pulled === "storage";
  }

  private async find(accountIndex: number): Promise<AccountRow | undefined> {
    if (this.isInOrder) return this.next();
    await this.readWaiting();
    const owner = this.waiting.get(accountIndex);
    this.waiting.delete(accountIndex);
    return owner;
  }

  private async readWaiting(): Promise<void> {
    for (let owner = await this.next(); owner !== undefined; owner = await this.next())
      this.waiting.set(owner.leafIndex, owner);
  }

  private async next(): Promise<AccountRow | undefined> {
    for (;;) {
      const row = await this.accounts.next();
      if (row === undefined || row.storageRoot !== undefined) return row;
    }
  }
}

/** What shows the rows that proofs prove, one after the other. */
interface Prover {
  /** @throws Error if the proof proves something else than what was asked for */
  prove(entries: Uint8Array, proof: Uint8Array): readonly TableRow[];
  /** @throws Error if something is left to prove */
  end(): void;
}

function entriesProver(suite: HashSuite, {block}: Manifest): Prover {
  const root = decodeHex(block.stateRoot);
  return {
    prove: (bytes, proof) => {
      const entries = decodeEntries(bytes);
      const proven = verifyMultiProof(suite, root, entries, proof);
      return entries.flatMap((entry, i) => rowsOfEntry(suite, entry, proven[i] as Proven));
    },
    end: () => {},
  };
}

/** Each answer begins where the one before ends, and the last one ends where nothing else differs. */
function changesProver(suite: HashSuite, {block, order}: Manifest): Prover {
  const roots = {from: decodeHex(order.fromRoot), to: decodeHex(block.stateRoot)};
  let cursor: bigint | undefined = 0n;
  return {
    prove: (bytes, proof) => {
      const begin = decodeBegin(bytes);
      if (begin !== cursor) throw new Error(`entries: expected the changes from ${cursor} on, got ${begin}`);
      const request = {tree: "all", cursor: begin, count: LEAVES_PER_ANSWER};
      const changes = verifyChanges(suite, roots, request, proof);
      cursor = changes.end;
      return rowsOfChanges(suite, changes);
    },
    end: () => {
      if (cursor !== undefined) throw new Error(`expected a proof of the changes from ${cursor} on`);
    },
  };
}

/** The rows are exactly what the proofs prove. */
async function checkProofs(folder: string, manifest: Manifest, prover: Prover): Promise<void> {
  const names: readonly TableName[] = ["accounts", "absent", "values", "accountChanges", "slotChanges"];
  const readers = new Map(names.map(name => [name, new TableReader(folder, manifest, name)]));
  const proofs = new TableReader(folder, manifest, "proofs");
  for (let row = await proofs.next(); row !== undefined; row = await proofs.next()) {
    const {entries, proof} = row;
    for (const expected of at(proofs.place, () => prover.prove(entries, proof))) {
      const reader = readers.get(expected.table) as TableReader<TableName>;
      const held = await reader.next();
      if (held === undefined || rowText(expected.table, held) !== rowText(expected.table, expected.row))
        throw damaged(reader.place, `expected the row that ${proofs.place} proves`);
    }
  }
  at(proofs.place, () => prover.end());
  for (const reader of readers.values())
    if ((await reader.next()) !== undefined) throw reader.refusal("no proof proves the row");
}

function rowText(table: TableName, row: AnyRow): string {
  const cells = TABLES[table].columns.map(({kind, key}) => {
    const value = row[key];
    return value === undefined ? "" : encodeCell(kind, value);
  });
  return cells.join(",");
}

/** @throws PulledError that names the place, for what the work refuses */
function at<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof PulledError) throw error;
    if (!(error instanceof Error) || (error instanceof TypeError && !(error instanceof ProofError)))
      throw error;
    throw new PulledError("DAMAGED", `${place}: ${error.message}`, error);
  }
}

function damaged(place: string, problem: string): PulledError {
  return new PulledError("DAMAGED", `${place}: ${problem}`);
}
