/** Checks LevelDB's files against their checksums and, if all are intact, the records. Reports each finding at once. */
import {setTimeout as sleep} from "node:timers/promises";
import {requireFormat} from "../../storage/block/format.ts";
import {StateReader} from "../../storage/block/stateReader.ts";
import {checkBlock, checkEverything, checkNote, checkSample} from "../../storage/check/check.ts";
import type {Findings} from "../../storage/check/findings.ts";
import {readNote} from "../../storage/directory/acknowledgedNote.ts";
import {refuseForeignDirectory} from "../../storage/directory/storeDirectory.ts";
import {verifyFilesInUse} from "../../storage/directory/verifyFiles.ts";
import {StoreError} from "../../storage/errors.ts";
import {type FileFinding, findingOf, whereOfFinding} from "../../storage/leveldb/fileDamage.ts";
import {tableName} from "../../storage/leveldb/fileNames.ts";
import {FileSnapshot} from "../../storage/leveldb/fileSnapshot.ts";
import {checkTables} from "../../storage/leveldb/tableCheck.ts";
import type {CheckEvent, CheckJob, CheckOutcome} from "../messages/checkJob.ts";

/** Between two progress reports, and looks for a stop request. */
const PAUSE_INTERVAL_MS = 100;
/** No hints: a check looks keys up by the index, so that the index is checked too. */
const MEMORY = {pageBytes: 32 << 20, hintBytes: 0};

export class Check implements Findings {
  blocks = 0;
  pages = 0;
  leaves = 0;
  findings = 0;
  private bytes = 0;
  private stoppedAt: string | undefined;
  private readonly startMs = performance.now();
  private pausedAtMs = performance.now();

  /** @param signal - ends the check early; the findings so far count */
  constructor(
    private readonly job: CheckJob,
    private readonly signal: AbortSignal,
    private readonly onEvent: (event: CheckEvent) => void,
  ) {}

  /** @throws StoreError STORE_MISSING, FORMAT_MISMATCH, STORE_UNREADABLE; system errors */
  async run(): Promise<CheckOutcome> {
    refuseForeignDirectory(this.job.directory, false);
    await this.checkFiles();
    const filesDamaged = this.findings > 0;
    if (this.job.extent === "records" && !filesDamaged && this.stoppedAt === undefined)
      await this.checkRecords();
    const {blocks, pages, leaves, findings, bytes, stoppedAt} = this;
    return {bytes, blocks, pages, leaves, findings, filesDamaged, stoppedAt};
  }

  private async checkFiles(): Promise<void> {
    const {directory, extent, block, sample} = this.job;
    const {findings, manifest} = await verifyFilesInUse(directory);
    const damaged = new Set(findings.map(({file}) => file));
    for (const finding of findings) this.reportFile(finding);
    if (manifest === undefined) return;
    const all = [...manifest.tables.values()].filter(({number}) => !damaged.has(tableName(number)));
    const tables = all.sort((a, b) => a.number - b.number);
    const isPart = extent === "records" && (block !== undefined || sample !== undefined);
    this.onEvent({
      kind: "begin",
      tables: tables.length,
      bytes: tables.reduce((sum, {size}) => sum + size, 0),
    });
    for await (const {file, bytes, damage} of checkTables(directory, tables, isPart ? "frame" : "whole")) {
      for (const finding of damage) this.reportFile(finding);
      this.bytes += bytes;
      const {bytesPerSecond = Number.POSITIVE_INFINITY} = this.job;
      const aheadMs = (this.bytes / bytesPerSecond) * 1000 - (performance.now() - this.startMs);
      if (aheadMs > 0) await sleep(aheadMs);
      if (!(await this.pause(file))) break;
    }
    this.onEvent({kind: "progress", at: "tables", bytes: this.bytes, pages: 0});
  }

  private async checkRecords(): Promise<void> {
    const {directory, block, sample} = this.job;
    let snapshot: FileSnapshot | undefined;
    try {
      const note = await readNote(directory);
      snapshot = await FileSnapshot.open(directory);
      const suite = await requireFormat(snapshot, directory);
      const store = new StateReader(snapshot, suite, MEMORY);
      checkNote(await store.latest(), note, await readNote(directory), this);
      if (sample !== undefined) await checkSample(store, await this.chooseBlock(store), sample, this);
      else if (block !== undefined) await checkBlock(store, block, this);
      else await checkEverything(store, snapshot.records(), this);
    } catch (error) {
      this.reportFile(findingOf(error)); // a file was damaged after it was verified
    } finally {
      snapshot?.close();
    }
  }

  private async chooseBlock(store: StateReader): Promise<number> {
    const block = this.job.block ?? (await store.latest());
    if (block === undefined) throw new StoreError("BLOCK_UNKNOWN", "the store holds no block to sample");
    if (this.job.block === undefined) this.onEvent({kind: "sampling", block});
    return block;
  }

  private reportFile(finding: FileFinding): void {
    this.report(whereOfFinding(finding), finding.what);
  }

  report(where: string, what: string): void {
    this.findings++;
    this.onEvent({kind: "finding", where, what});
  }

  async pause(of: string): Promise<boolean> {
    if (performance.now() - this.pausedAtMs > PAUSE_INTERVAL_MS) {
      const {bytes, pages} = this;
      this.onEvent({kind: "progress", at: of, bytes, pages});
      await new Promise(resolve => setImmediate(resolve));
      this.pausedAtMs = performance.now();
    }
    if (this.signal.aborted) this.stoppedAt ??= of;
    return !this.signal.aborted;
  }
}
