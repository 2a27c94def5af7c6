/**
 * Checks every record: its checksum, and that each block hash leads to the block with that hash.
 */
import type {StateReader} from "../block/stateReader.ts";
import {toHex} from "../hex.ts";
import {hashOfKey, isHashKey, nameOfKey} from "../record/layout.ts";
import {decodeNumber} from "../record/numberRecord.ts";
import {openRecord} from "../record/record.ts";
import {type Findings, toFinding} from "./findings.ts";

/** @returns false if the check was ended */
export async function checkRecords(
  store: StateReader,
  records: Iterable<[key: Buffer, value: Buffer]>,
  findings: Findings,
): Promise<boolean> {
  try {
    for (const [key, value] of records) {
      try {
        const body = openRecord(key, value);
        if (isHashKey(key)) checkHash(store, key, body, findings);
      } catch (error) {
        findings.report(nameOfKey(key), toFinding(error));
      }
      if (!(await findings.pause("all records"))) return false;
    }
  } catch (error) {
    findings.report("all records", toFinding(error));
  }
  return true;
}

/** Checks one record of a block hash. It also finds that the newest block's record is missing. */
function checkHash(store: StateReader, key: Buffer, body: Buffer, findings: Findings): void {
  const block = decodeNumber(key, body);
  const hash = store.readBlock(block)?.header.hash;
  if (hash === undefined) findings.report(nameOfKey(key), `it leads to block ${block}, which is not held`);
  else if (Buffer.compare(hash, hashOfKey(key)) !== 0)
    findings.report(nameOfKey(key), `it leads to block ${block}, which has the hash ${toHex(hash)}`);
}
