/** Verifies the files that an opening relies on: CURRENT, the manifest, tables, logs to replay, and ACKNOWLEDGED. */

import {statSync} from "node:fs";
import {readdir} from "node:fs/promises";
import {join} from "node:path";
import {count} from "../count.ts";
import {type FileFinding, findingOf, missingFile} from "../leveldb/fileDamage.ts";
import {logName, tableName} from "../leveldb/fileNames.ts";
import {type LogContents, readLog} from "../leveldb/logFile.ts";
import {readLoggedBatch} from "../leveldb/loggedBatch.ts";
import {liveLogs, type Manifest, readUnchanged} from "../leveldb/manifest.ts";
import {type AcknowledgedNote, readNote} from "./acknowledgedNote.ts";

/** @param manifest - of the directory. @returns at most one finding per file, none if all is well */
export async function verifyFiles(directory: string, manifest: Manifest): Promise<FileFinding[]> {
  const findings: FileFinding[] = [];
  const note = await readNoteOrReport(directory, findings);
  const names = await readdir(directory);
  findings.push(...verifyTables(directory, manifest));
  findings.push(...(await verifyLogs(directory, names, manifest, note)));
  return findings;
}

/** As verifyFiles, also while the store is open. @returns no manifest if that is damaged */
export async function verifyFilesInUse(
  directory: string,
): Promise<{findings: FileFinding[]; manifest: Manifest | undefined}> {
  try {
    return await readUnchanged(directory, async manifest => ({
      findings: await verifyFiles(directory, manifest),
      manifest,
    }));
  } catch (error) {
    const findings = [findingOf(error)];
    await readNoteOrReport(directory, findings);
    return {findings, manifest: undefined};
  }
}

async function readNoteOrReport(
  directory: string,
  findings: FileFinding[],
): Promise<AcknowledgedNote | undefined> {
  try {
    return await readNote(directory);
  } catch (error) {
    findings.push(findingOf(error));
    return undefined;
  }
}

function verifyTables(directory: string, {name: manifestName, tables}: Manifest): FileFinding[] {
  const findings: FileFinding[] = [];
  for (const {number, size} of tables.values()) {
    const file = tableName(number);
    try {
      const actual = statSync(join(directory, file), {throwIfNoEntry: false})?.size;
      if (actual === undefined) findings.push(missingFile(file, manifestName));
      else if (actual !== size)
        findings.push({
          file,
          offset: undefined,
          what: `it has ${count(actual, "byte")}, ${manifestName} says ${size}`,
        });
    } catch (error) {
      findings.push(findingOf(error, file));
    }
  }
  return findings;
}

async function verifyLogs(
  directory: string,
  names: readonly string[],
  manifest: Manifest,
  note: AcknowledgedNote | undefined,
): Promise<FileFinding[]> {
  const findings: FileFinding[] = [];
  const numbers = liveLogs(names, manifest);
  const {name: manifestName, logNumber: first} = manifest;
  if (first > 0 && !numbers.includes(first)) findings.push(missingFile(logName(first), manifestName));
  else if (note !== undefined && note.log >= first && note.log > 0 && !numbers.includes(note.log)) {
    const what = "it is missing, although acknowledged blocks were written to it";
    findings.push({file: logName(note.log), offset: undefined, what});
  }
  /** The log before this one, if it ends within a record. */
  let torn: {readonly file: string; readonly offset: number} | undefined;
  let nextSequence: number | undefined;
  for (const number of numbers) {
    const file = logName(number);
    const onRecord = (record: Buffer): void => {
      const {sequence, count} = readLoggedBatch(record);
      const expected = nextSequence ?? sequence;
      if (sequence !== expected)
        throw new RangeError(`expected a batch numbered ${expected}, got number ${sequence}`);
      nextSequence = sequence + count;
    };
    let log: LogContents;
    try {
      log = await readLog(join(directory, file), onRecord);
    } catch (error) {
      findings.push(findingOf(error, file));
      nextSequence = undefined;
      continue;
    }
    if (log.damage !== undefined) findings.push({file, ...log.damage});
    else if (note !== undefined && note.log === number && log.end < note.bytes)
      findings.push({
        file,
        offset: log.torn?.offset ?? log.end,
        what: `${log.torn?.what ?? "it ends here"}, but it was written and synced up to byte ${note.bytes}: acknowledged blocks are lost`,
      });
    // LevelDB starts a log only after the last write to the log before, and that write was synced.
    if (torn !== undefined && log.records > 0)
      findings.push({...torn, what: `the log ends within a record, although ${file} was written after it`});
    if (findings.length > 0) nextSequence = undefined;
    torn = log.torn && {file, offset: log.torn.offset};
  }
  return findings;
}
