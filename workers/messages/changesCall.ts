/**
 * The packed form of a call for the leaves that differ between two blocks. It is a call for one account with one key (packedCall.ts),
 * whose key's place holds the rest:
 *
 *   0               6            26              28        29             35             40          45          47
 *   | fromBlock u48 | address 20 | key count = 1 | form u8 | toBlock u48 | account u40 | slot u40 | count u16 | scope u8 | 13 zero bytes |
 *
 * `account` and `slot` are the cursor.
 */
import {ADDRESS_AT, KEYS_AT, type ProofForm, packedBytes, writeCallHead} from "./packedCall.ts";

/** Leaves of one call. */
export const MAX_CHANGES = 4096;

/** Which trees are compared. */
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

const ADDRESS_BYTES = 20;
const BLOCK_BYTES = 6;
const INDEX_BYTES = 5;
const ACCOUNT_AT = KEYS_AT + BLOCK_BYTES;
const SLOT_AT = ACCOUNT_AT + INDEX_BYTES;
const COUNT_AT = SLOT_AT + INDEX_BYTES;
const SCOPE_AT = COUNT_AT + 2;

/** @returns the end of the packed call */
export function packChanges(
  calls: Buffer,
  start: number,
  {fromBlock, toBlock, scope, address, cursor, count}: ChangesCall,
  form: ProofForm,
): number {
  const end = start + packedBytes(1);
  calls.fill(0, start, end);
  writeCallHead(calls, start, fromBlock, 1, form);
  if (address !== undefined) calls.set(address, start + ADDRESS_AT);
  calls.writeUIntBE(toBlock, start + KEYS_AT, BLOCK_BYTES);
  calls.writeUIntBE(cursor.account, start + ACCOUNT_AT, INDEX_BYTES);
  calls.writeUIntBE(cursor.slot, start + SLOT_AT, INDEX_BYTES);
  calls.writeUInt16BE(count, start + COUNT_AT);
  calls[start + SCOPE_AT] = scope;
  return end;
}

export function readChangesCall(call: Buffer): ChangesCall {
  const scope = call[SCOPE_AT] as ChangeScope;
  return {
    fromBlock: call.readUIntBE(0, BLOCK_BYTES),
    toBlock: readToBlock(call, 0),
    scope,
    address:
      scope === ChangeScope.STORAGE ? call.subarray(ADDRESS_AT, ADDRESS_AT + ADDRESS_BYTES) : undefined,
    cursor: {
      account: call.readUIntBE(ACCOUNT_AT, INDEX_BYTES),
      slot: call.readUIntBE(SLOT_AT, INDEX_BYTES),
    },
    count: call.readUInt16BE(COUNT_AT),
  };
}

/** @param start - where the call begins */
export function readToBlock(calls: Buffer, start: number): number {
  return calls.readUIntBE(start + KEYS_AT, BLOCK_BYTES);
}
