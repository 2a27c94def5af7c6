/**
 * Checks a store: does everything in it match its hashes?
 */
import type {BlockRecord} from "../block/blockRecord.ts";
import type {StateReader} from "../block/stateReader.ts";
import {type AcknowledgedNote, describeLoss, isFinding, NOTE_FILE} from "../leveldb/acknowledgedNote.ts";
import type {FileFinding} from "../leveldb/manifest.ts";
import {FIRST_PAGE} from "../record/layout.ts";
import {checkRecords} from "./checkRecords.ts";
import {checkState, readBlock} from "./checkState.ts";
import type {Findings} from "./findings.ts";

/** Checks every record's checksum, every block's new pages, and the newest block's linked lists and indexes. */
export async function checkEverything(
  store: StateReader,
  records: Iterable<[key: Buffer, value: Buffer]>,
  findings: Findings,
): Promise<void> {
  if (!(await checkRecords(store, records, findings))) return;
  const earliest = await store.earliest();
  const latest = await store.latest();
  if (earliest === undefined || latest === undefined) return;
  if (earliest !== 0) findings.report("block 0", "it is not held, although later blocks are");
  if (store.readChain() === undefined)
    findings.report("chain record", "it is not there, although blocks are");
  let before: BlockRecord | undefined;
  for (let block = earliest; block <= latest; block++) {
    const record = readBlock(store, block, findings);
    if (record === undefined) continue;
    if (before !== undefined && record.nextPage < before.nextPage)
      findings.report(
        `block ${block}`,
        `its pages end at ${record.nextPage}, before those of block ${block - 1}`,
      );
    const {rootPage} = record.accounts;
    if (before !== undefined && rootPage !== before.accounts.rootPage && rootPage < before.nextPage)
      findings.report(`block ${block}`, `its root page ${rootPage} is not among its own pages`);
    const parentHash = record.header.parentHash;
    if (
      before !== undefined &&
      parentHash !== undefined &&
      Buffer.compare(parentHash, before.header.hash) !== 0
    )
      findings.report(`block ${block}`, `its parent is not block ${block - 1}`);
    await checkState(store, record, before?.nextPage ?? FIRST_PAGE, false, findings);
    if (!(await findings.pause(`block ${block}`))) return;
    before = record;
  }
  // Lists and indexes run through pages from all blocks, so they are checked as a whole, for the newest block.
  if (before !== undefined) await checkState(store, before, FIRST_PAGE, true, findings);
}

/**
 * Checks that the store has the blocks which the note of acknowledged blocks names. Another process may write the store.
 *
 * @param latest - the newest block in the files
 * @param before - the note as it was before the store's files were opened, a lower bound of what they hold
 * @param after - the note as it was after that. It is lower only if blocks were rolled back in between
 */
export function checkNote(
  latest: number | undefined,
  before: AcknowledgedNote | FileFinding | undefined,
  after: AcknowledgedNote | FileFinding | undefined,
  findings: Pick<Findings, "report">,
): void {
  if (before === undefined || after === undefined) return;
  const damage = [before, after].find(isFinding)?.what;
  if (damage !== undefined) findings.report(NOTE_FILE, damage);
  if (isFinding(before) || isFinding(after) || after.block < before.block) return;
  const loss = describeLoss(before, latest);
  if (loss !== undefined) findings.report(NOTE_FILE, loss);
}

/** Checks all of one block's state. */
export async function checkBlock(store: StateReader, block: number, findings: Findings): Promise<void> {
  const record = readBlock(store, block, findings);
  if (record !== undefined) await checkState(store, record, FIRST_PAGE, true, findings);
}
