/**
 * The tables of a pull, and their columns in order. Files name columns in lower case: `leaf_index` for leafIndex.
 *
 *   accounts   leaves of the account tree, or proven accounts, with leafIndex ascending in a complete tree
 *   trees      complete storage trees, in the order of their slots
 *   slots      leaves of storage trees: tree after tree, with leafIndex ascending in each
 *   values     slots that were requested by their keys, in request order
 *   codes      code of the accounts of a pull of everything, each once
 *   absent     requested accounts that do not exist, in request order
 *   account_changes, slot_changes   what differs between two blocks, in the order of the trees
 *   proofs     proofs of the rows, in a pull without the complete account tree
 */
import type {ColumnKind, ColumnValue, ColumnValues} from "./column.ts";

interface ColumnType<Kind extends ColumnKind = ColumnKind, Optional extends boolean = boolean> {
  readonly kind: Kind;
  readonly isOptional: Optional;
}

type Columns = Readonly<Record<string, ColumnType>>;

type RowOf<C extends Columns> = {
  readonly [Key in keyof C]: C[Key] extends ColumnType<infer Kind, infer Optional>
    ? ColumnValues[Kind] | (Optional extends true ? undefined : never)
    : never;
};

function one<Kind extends ColumnKind>(kind: Kind): ColumnType<Kind, false> {
  return {kind, isOptional: false};
}

function optional<Kind extends ColumnKind>(kind: Kind): ColumnType<Kind, true> {
  return {kind, isOptional: true};
}

const COLUMNS = {
  accounts: {
    leafIndex: one("index"),
    address: one("address"),
    nonce: one("count"),
    balance: one("amount"),
    /** undefined: the root of a new tree. */
    storageRoot: optional("hash"),
    /** undefined: that of no code, as keccakCodeHash. */
    codeHash: optional("hash"),
    keccakCodeHash: optional("hash"),
    codeSize: one("count"),
  },
  trees: {
    /** The account's leaf index. */
    accountIndex: one("index"),
    address: one("address"),
    root: one("hash"),
    /** Positions in use: every leaf index is below. */
    nextFreeNode: one("index"),
    /** Rows of slots. */
    leaves: one("index"),
  },
  slots: {
    accountIndex: one("index"),
    address: one("address"),
    leafIndex: one("index"),
    slot: one("word"),
    /** Not zero. */
    value: one("word"),
  },
  values: {
    address: one("address"),
    slot: one("word"),
    /** Zero: there is no such slot. */
    value: one("word"),
  },
  codes: {
    keccakCodeHash: one("hash"),
    code: one("bytes"),
  },
  absent: {
    address: one("address"),
  },
  /** Without nonceBefore the account did not exist, and without nonceAfter it was deleted. */
  account_changes: {
    leafIndex: one("index"),
    address: one("address"),
    nonceBefore: optional("count"),
    balanceBefore: optional("amount"),
    storageRootBefore: optional("hash"),
    codeHashBefore: optional("hash"),
    keccakCodeHashBefore: optional("hash"),
    codeSizeBefore: optional("count"),
    nonceAfter: optional("count"),
    balanceAfter: optional("amount"),
    storageRootAfter: optional("hash"),
    codeHashAfter: optional("hash"),
    keccakCodeHashAfter: optional("hash"),
    codeSizeAfter: optional("count"),
  },
  slot_changes: {
    accountIndex: one("index"),
    address: one("address"),
    leafIndex: one("index"),
    slot: one("word"),
    /** undefined: there was no such slot; valueAfter alike. */
    valueBefore: optional("word"),
    valueAfter: optional("word"),
  },
  proofs: {
    /** The request of the proof, encoded by provenEntries.ts or provenChanges.ts. */
    entries: one("bytes"),
    /** docs/proofs.md, section 9; of changes, section 16. */
    proof: one("bytes"),
  },
} satisfies Readonly<Record<string, Columns>>;

export type TableName = keyof typeof COLUMNS;
export type RowsOf = {readonly [Name in TableName]: RowOf<(typeof COLUMNS)[Name]>};
export type AccountRow = RowsOf["accounts"];
export type TreeRow = RowsOf["trees"];
export type SlotRow = RowsOf["slots"];

export type AnyRow = Readonly<Record<string, ColumnValue | undefined>>;

export interface Column extends ColumnType {
  readonly key: string;
  /** In files. */
  readonly name: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

function createTable(name: TableName): Table {
  const columns = Object.entries<ColumnType>(COLUMNS[name]).map(([key, type]) => {
    return {...type, key, name: key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)};
  });
  return {name, columns};
}

export const TABLE_NAMES = Object.keys(COLUMNS) as readonly TableName[];

export const TABLES = Object.fromEntries(TABLE_NAMES.map(name => [name, createTable(name)])) as Readonly<
  Record<TableName, Table>
>;
