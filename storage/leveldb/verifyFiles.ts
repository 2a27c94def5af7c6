/**
 * Verifies the files that LevelDB relies on when it opens: CURRENT, the manifest, that the tables exist, and the logs that it
 * would replay. It changes nothing. Once LevelDB has opened, the parts of a log that it could not read are lost.
 */
import {readdir, stat} from "node:fs/promises";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {type AcknowledgedNote, isFinding, readNote} from "./acknowledgedNote.ts";
import {logName, tableName, tableNumber} from "./fileNames.ts";
import {readLog} from "./logFile.ts";
import {readLoggedBatch} from "./loggedBatch.ts";
import {type FileFinding, isSameManifest, liveLogs, type Manifest, readManifest} from "./manifest.ts";

/** @param directory - has a CURRENT file. @returns at most one finding per file, none if all is well */
export async function verifyFiles(directory: string): Promise<FileFinding[]> {
  const note = await readNote(directory);
  const manifest = await readManifest(directory);
  const findings: FileFinding[] = [];
  if (isFinding(note)) findings.push(note);
  if (isFinding(manifest)) return [manifest, ...findings];
  const names = await readdir(directory);
  findings.push(...(await verifyTables(directory, names, manifest)));
  findings.push(...(await verifyLogs(directory, names, manifest, isFinding(note) ? undefined : note)));
  return findings;
}

/** Another process may write, and have replaced files before they are read here. Then they are read again. */
const MAX_ATTEMPTS = 20;

/**
 * Like verifyFiles, for a store that another process, or LevelDB in this one, may have open.
 *
 * @returns the findings, and the manifest if it is undamaged
 */
export async function verifyFilesInUse(
  directory: string,
): Promise<{findings: FileFinding[]; manifest: Manifest | undefined}> {
  for (let attempt = 1; ; attempt++) {
    const manifest = await readManifest(directory);
    const findings = await verifyFiles(directory);
    const now = await readManifest(directory);
    if (isFinding(manifest) || isFinding(now)) {
      // CURRENT may have named a new manifest while the old one was read.
      if (isFinding(manifest) && isFinding(now) && describeFinding(manifest) === describeFinding(now))
        return {findings, manifest: undefined};
    } else if (isSameManifest(manifest, now)) return {findings, manifest};
    if (attempt === MAX_ATTEMPTS)
      throw new StoreError("STORE_UNREADABLE", `${directory} changed ${attempt} times while it was read`);
  }
}

/** A finding as text: file, place, and what is wrong. */
export function describeFinding({file, offset, what}: FileFinding): string {
  return `${whereOfFinding({file, offset})}: ${what}`;
}

export function whereOfFinding({file, offset}: Pick<FileFinding, "file" | "offset">): string {
  return offset === undefined ? file : `${file}, byte ${offset}`;
}

/** Checks that every table in the manifest exists and has its size. */
async function verifyTables(
  directory: string,
  names: readonly string[],
  {name: manifestName, tables}: Manifest,
): Promise<FileFinding[]> {
  const files = new Map<number, string>();
  for (const name of names) {
    const number = tableNumber(name);
    if (number !== undefined) files.set(number, name);
  }
  const findings: FileFinding[] = [];
  for (const {number, size} of tables.values()) {
    const file = files.get(number);
    if (file === undefined) {
      const what = `it is not there, although ${manifestName} names it`;
      findings.push({file: tableName(number), offset: undefined, what});
      continue;
    }
    const actual = (await stat(join(directory, file))).size;
    if (actual !== size)
      findings.push({file, offset: undefined, what: `it has ${actual} bytes, ${manifestName} says ${size}`});
  }
  return findings;
}

/** Checks the logs that LevelDB would replay, in its order. */
async function verifyLogs(
  directory: string,
  names: readonly string[],
  manifest: Manifest,
  note: AcknowledgedNote | undefined,
): Promise<FileFinding[]> {
  const findings: FileFinding[] = [];
  const numbers = liveLogs(names, manifest);
  const {name: manifestName, logNumber: first} = manifest;
  const missing = (number: number, why: string): void => {
    findings.push({file: logName(number), offset: undefined, what: `it is not there, although ${why}`});
  };
  if (first > 0 && !numbers.includes(first)) missing(first, `${manifestName} names it`);
  else if (note !== undefined && note.log >= first && note.log > 0 && !numbers.includes(note.log))
    missing(note.log, "acknowledged blocks were written to it");
  /** The log before this one, if it ends within a record. */
  let torn: {readonly file: string; readonly offset: number} | undefined;
  let nextSequence: number | undefined;
  for (const number of numbers) {
    const file = logName(number);
    const {
      records,
      damage,
      torn: tornPiece,
      end,
    } = await readLog(join(directory, file), record => {
      try {
        const {sequence, count} = readLoggedBatch(record);
        const expected = nextSequence ?? sequence;
        nextSequence = sequence + count;
        return sequence === expected
          ? undefined
          : `a batch numbered ${sequence}, where number ${expected} belongs`;
      } catch (error) {
        if (error instanceof RangeError) return `a record that is not a batch: ${error.message}`;
        throw error;
      }
    });
    if (damage !== undefined) findings.push({file, ...damage});
    else if (note !== undefined && note.log === number && end < note.bytes)
      findings.push({
        file,
        offset: tornPiece?.offset ?? end,
        what: `${tornPiece?.what ?? "it ends here"}, but it was written and synced up to byte ${note.bytes}: acknowledged blocks are lost`,
      });
    // LevelDB starts a log only after the last write to the log before, and that write was synced.
    if (torn !== undefined && records > 0)
      findings.push({...torn, what: `the log ends within a record, although ${file} was written after it`});
    if (findings.length > 0) nextSequence = undefined;
    torn = tornPiece === undefined ? undefined : {file, offset: tornPiece.offset};
  }
  return findings;
}
