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

/** The kind of a column. With `?`, its values may be undefined. */
type ColumnType = ColumnKind | `${ColumnKind}?`;

type ValueOf<Type> = Type extends ColumnKind
  ? ColumnValues[Type]
  : Type extends `${infer Kind extends ColumnKind}?`
    ? ColumnValues[Kind] | undefined
    : never;

const COLUMNS = {
  accounts: {
    leafIndex: "index",
    address: "address",
    nonce: "count",
    balance: "amount",
    /** undefined: the root of a new tree. */
    storageRoot: "hash?",
    /** undefined: that of no code, as keccakCodeHash. */
    codeHash: "hash?",
    keccakCodeHash: "hash?",
    codeSize: "count",
  },
  trees: {
    /** The account's leaf index. */
    accountIndex: "index",
    address: "address",
    root: "hash",
    /** Positions in use: every leaf index is below. */
    nextFreeNode: "index",
    /** Rows of slots. */
    leaves: "index",
  },
  slots: {
    accountIndex: "index",
    address: "address",
    leafIndex: "index",
    slot: "word",
    /** Not zero. */
    value: "word",
  },
  values: {
    address: "address",
    slot: "word",
    /** Zero: there is no such slot. */
    value: "word",
  },
  codes: {
    keccakCodeHash: "hash",
    code: "bytes",
  },
  absent: {
    address: "address",
  },
  /** Without nonceBefore the account did not exist, and without nonceAfter it was deleted. */
  account_changes: {
    leafIndex: "index",
    address: "address",
    nonceBefore: "count?",
    balanceBefore: "amount?",
    storageRootBefore: "hash?",
    codeHashBefore: "hash?",
    keccakCodeHashBefore: "hash?",
    codeSizeBefore: "count?",
    nonceAfter: "count?",
    balanceAfter: "amount?",
    storageRootAfter: "hash?",
    codeHashAfter: "hash?",
    keccakCodeHashAfter: "hash?",
    codeSizeAfter: "count?",
  },
  slot_changes: {
    accountIndex: "index",
    address: "address",
    leafIndex: "index",
    slot: "word",
    /** undefined: there was no such slot; valueAfter alike. */
    valueBefore: "word?",
    valueAfter: "word?",
  },
  proofs: {
    /** The request of the proof, encoded by provenEntries.ts or provenChanges.ts. */
    entries: "bytes",
    /** docs/proofs.md, section 9; of changes, section 16. */
    proof: "bytes",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;

export type TableName = keyof typeof COLUMNS;
export type RowsOf = {
  readonly [Name in TableName]: {
    readonly [Key in keyof (typeof COLUMNS)[Name]]: ValueOf<(typeof COLUMNS)[Name][Key]>;
  };
};
export type AccountRow = RowsOf["accounts"];
export type TreeRow = RowsOf["trees"];
export type SlotRow = RowsOf["slots"];

export type AnyRow = Readonly<Record<string, ColumnValue | undefined>>;

export interface Column {
  readonly kind: ColumnKind;
  readonly isOptional: boolean;
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
    const kind = type.replace("?", "") as ColumnKind;
    const name = key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    return {kind, isOptional: kind !== type, key, name};
  });
  return {name, columns};
}

export const TABLE_NAMES = Object.keys(COLUMNS) as readonly TableName[];

export const TABLES = Object.fromEntries(TABLE_NAMES.map(name => [name, createTable(name)])) as Readonly<
  Record<TableName, Table>
>;
