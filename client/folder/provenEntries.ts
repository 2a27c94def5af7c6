/**
 * What was asked for by keys: its rows, and the bytes that say what one proof is about.
 *
 *   entries   address 20 | count of keys u16 | keys, 32 bytes each | address ..
 */
import {joinBytes} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {type HashSuite, word} from "../hash/hashSuites.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {accountRow} from "./leafRows.ts";
import type {RowsOf, TableName} from "./row/tables.ts";

/** A row, and the table that it belongs to. */
export type TableRow = {
  readonly [Name in TableName]: {readonly table: Name; readonly row: RowsOf[Name]};
}[TableName];

const ADDRESS_BYTES = 20;
const COUNT_BYTES = 2;
const KEY_BYTES = 32;

export function encodeEntries(entries: readonly ProofRequest[]): Uint8Array {
  return joinBytes(
    entries.flatMap(({address, storageKeys}) => [
      decodeHex(address.toLowerCase()),
      new Uint8Array([storageKeys.length >> 8, storageKeys.length & 0xff]),
      ...storageKeys.map(key => word(BigInt(key))),
    ]),
  );
}

/** @throws Error for bytes that encodeEntries does not write */
export function decodeEntries(bytes: Uint8Array): ProofRequest[] {
  const entries: ProofRequest[] = [];
  for (let at = 0; at < bytes.length; ) {
    const address = encodeHex(bytes.subarray(at, at + ADDRESS_BYTES));
    at += ADDRESS_BYTES;
    const count = 256 * (bytes[at] ?? Number.NaN) + (bytes[at + 1] ?? Number.NaN);
    at += COUNT_BYTES;
    if (!(at + count * KEY_BYTES <= bytes.length)) throw new Error("entries: end in the middle of one");
    const storageKeys: string[] = [];
    for (let i = 0; i < count; i++, at += KEY_BYTES)
      storageKeys.push(encodeHex(bytes.subarray(at, at + KEY_BYTES)));
    entries.push({address, storageKeys});
  }
  return entries;
}

/** The rows of an entry, in their order. */
export function rowsOfEntry(
  suite: HashSuite,
  {address, storageKeys}: ProofRequest,
  {account, slots}: Proven,
): TableRow[] {
  const bytes = decodeHex(address.toLowerCase());
  const own: TableRow =
    account === undefined
      ? {table: "absent", row: {address: bytes}}
      : {
          table: "accounts",
          row: accountRow(suite, account.leafIndex, address.toLowerCase(), account),
        };
  const values = storageKeys.map((key, i): TableRow => {
    return {table: "values", row: {address: bytes, slot: BigInt(key), value: slots[i] ?? 0n}};
  });
  return [own, ...values];
}
