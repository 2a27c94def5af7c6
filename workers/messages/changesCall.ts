/** A call for the leaves that differ between two blocks, packed with its fields as text (packedCall.ts). */
import {type ProofForm, packFields, readAddress, readCallBlock, readFields} from "./packedCall.ts";

/** Leaves of one call. */
export const MAX_CHANGES = 4096;

export const ChangeScope = {
  ACCOUNTS: 0,
  /** The accounts, and the slots of each that differs. */
  ALL: 1,
  /** The slots of one account. */
  STORAGE: 2,
} as const;

export type ChangeScope = (typeof ChangeScope)[keyof typeof ChangeScope];

/** Where an answer begins or ends: at a slot's leaf of the account at a leaf index. */
export interface ChangeCursor {
  readonly account: number;
  readonly slot: number;
}

export interface ChangesCall {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly scope: ChangeScope;
  /** 20 bytes; undefined unless the scope is one account's storage. */
  readonly address: Uint8Array | undefined;
  readonly cursor: ChangeCursor;
  /** 1 to MAX_CHANGES. */
  readonly count: number;
}

export function packChanges({fromBlock, address, ...fields}: ChangesCall, form: ProofForm): Buffer {
  return packFields(form, fromBlock, address, fields);
}

export function readChangesCall(call: Buffer): ChangesCall {
  const fields = readFields<Omit<ChangesCall, "fromBlock" | "address">>(call);
  const address = fields.scope === ChangeScope.STORAGE ? readAddress(call) : undefined;
  return {...fields, fromBlock: readCallBlock(call, 0), address};
}
