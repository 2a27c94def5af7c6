/** Checks a store: does everything in it match its hashes? */
import type {BlockRecord} from "../block/blockRecord.ts";
import type {StateReader} from "../block/stateReader.ts";
import {type AcknowledgedNote, describeLoss, NOTE_FILE} from "../directory/acknowledgedNote.ts";
import {KeyCheck} from "./checkKeys.ts";
import {checkRecords} from "./checkRecords.ts";
import {checkState, readBlock} from "./checkState.ts";
import {type Findings, toFinding} from "./findings.ts";

/** Checks every record, each kept block's new pages, and the newest block's lists and indexes. */
export async function checkEverything(
  store: StateReader,
  records: Iterable<[key: Buffer, value: Buffer]>,
  findings: Findings,
): Promise<void> {
  if (!(await checkRecords(store, records, findings))) return;
  const latest = await store.latest();
  if (latest === undefined) return;
  let isMarked = true;
  try {
    await store.requireMarks();
  } catch (error) {
    findings.report("the meta records", toFinding(error));
    isMarked = false;
  }
  const earliest = isMarked ? store.readEarliest() : undefined;
  const keys = new KeyCheck(store, findings);
  let before: BlockRecord | undefined;
  /** The newest kept block so far, which is not checked yet. */
  let kept: BlockRecord | undefined;
  let sincePage: number | undefined;
  const first = isMarked
    ? store.firstBlock
    : Math.min((await store.unprunedFrom(0)) ?? latest, (await store.prunedFrom(0)) ?? latest);
  for (let block = first; block <= latest; block++) {
    const record = readBlock(store, block, findings, true);
    if (record === undefined) continue;
    const isKept = store.readPruned(block) === undefined;
    if (earliest !== undefined && (block < earliest ? isKept : block === earliest && !isKept))
      findings.report(`block ${block}`, `block ${earliest} is not the oldest kept one, as recorded`);
    if (before !== undefined) checkSuccession(before, record, findings);
    if (isKept) {
      if (kept !== undefined) {
        await checkState(store, findings, keys, kept, "new", sincePage);
        sincePage = kept.nextPage;
      }
      kept = record;
    }
    if (!(await findings.pause(`block ${block}`))) return;
    before = record;
  }
  // Lists and indexes run through pages from all blocks, so they are checked as a whole, for the newest block.
  if (kept !== undefined) await checkState(store, findings, keys, kept, "all");
}

/** @param before - of the nearest block below that has a record */
function checkSuccession(
  before: BlockRecord,
  {header, accounts, nextPage}: BlockRecord,
  findings: Findings,
): void {
  const where = `block ${header.number}`;
  const last = `block ${header.number - 1}`;
  if (nextPage < before.nextPage)
    findings.report(where, `its pages end at ${nextPage}, before those of ${last}`);
  const {rootPage} = accounts;
  if (rootPage !== before.accounts.rootPage && rootPage < before.nextPage)
    findings.report(where, `its root page ${rootPage} is not among its own pages`);
  const {parentHash} = header;
  if (parentHash !== undefined && Buffer.compare(parentHash, before.header.hash) !== 0)
    findings.report(where, `its parent is not ${last}`);
}

/** @param before, after - the note before and after the files were opened: another process may write the store */
export function checkNote(
  latest: number | undefined,
  before: AcknowledgedNote | undefined,
  after: AcknowledgedNote | undefined,
  findings: Pick<Findings, "report">,
): void {
  if (before === undefined || after === undefined || after.block < before.block) return;
  const loss = describeLoss(before, latest);
  if (loss !== undefined) findings.report(NOTE_FILE, loss);
}

export async function checkBlock(store: StateReader, block: number, findings: Findings): Promise<void> {
  const record = readBlock(store, block, findings);
  if (record !== undefined) await checkState(store, findings, new KeyCheck(store, findings), record, "all");
}

/** Checks the paths of `count` random leaves of the account tree, and of a slot of each of these accounts. */
export async function checkSample(
  store: StateReader,
  block: number,
  count: number,
  findings: Findings,
): Promise<void> {
  const record = readBlock(store, block, findings);
  if (record === undefined) return;
  const keys = new KeyCheck(store, findings);
  for (let i = 0; i < count; i++) {
    await checkState(store, findings, keys, record, "leaf");
    if (!(await findings.pause(`block ${block}`))) return;
  }
}
