/**
 * A note of the acknowledged blocks, in the store's directory. LevelDB alone cannot tell a torn end of its log, which
 * is harmless, from a lost one.
 *
 *   ACKNOWLEDGED   slot 4096 | slot 4096
 *   slot           {"block":99,"log":5,"bytes":123456,"crc":"1a2b3c4d"}       and blanks; or blanks alone
 *
 *   block   the newest block in the store is this one or a later one
 *   log     number of the last log written, on disk up to byte `bytes`; or its blocks are in tables by now
 *   crc     crc32 of the text `block log bytes`
 *
 * The note is a lower bound, so it is written after a synced batch, and needs no sync of its own. It overwrites the
 * older slot; a kill or a power cut leaves the other one, in another sector. The newer slot has the higher numbers.
 * Only a rollback lowers them, so it replaces the file by a synced rename. A power cut may leave a new file empty or
 * all zero; then there is no note.
 */
import {fsyncSync, readSync, renameSync, rmSync, writeFileSync, writeSync} from "node:fs";
import {join} from "node:path";
import {crc32} from "node:zlib";
import {StoreError} from "../errors.ts";
import {FileDamage} from "../leveldb/fileDamage.ts";
import {readSmallFile} from "../leveldb/manifest.ts";
import {withFile} from "../regularFile.ts";

export const NOTE_FILE = "ACKNOWLEDGED";
export const NOTE_DRAFT_FILE = "ACKNOWLEDGED.new";
const SLOT_BYTES = 4096;
const NOTE_BYTES = 128;
const NOTE = /^\{"block":(\d{1,15}),"log":(\d{1,15}),"bytes":(\d{1,15}),"crc":"([0-9a-f]{8})"\}[\0\s]*$/;
const BLANK = /^[\0\s]*$/;

export interface AcknowledgedNote {
  readonly block: number;
  readonly log: number;
  readonly bytes: number;
}

/** @returns the note; undefined if the store has none. @throws FileDamage */
export async function readNote(directory: string): Promise<AcknowledgedNote | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readSmallFile(directory, NOTE_FILE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return decodeNote(bytes);
}

/** @param bytes - of the file. @returns undefined: there is no note. @throws FileDamage */
export function decodeNote(bytes: Buffer): AcknowledgedNote | undefined {
  const note = newestSlot(bytes)?.note;
  if (note !== undefined || BLANK.test(bytes.toString("latin1"))) return note;
  throw new FileDamage({file: NOTE_FILE, offset: undefined, what: "it does not decode"});
}

/** @returns what is missing of the acknowledged blocks; undefined: nothing */
export function describeLoss(note: AcknowledgedNote, latest: number | undefined): string | undefined {
  if (latest !== undefined && note.block <= latest) return undefined;
  const rest = latest === undefined ? "the store is empty" : `the newest is block ${latest}`;
  return `block ${note.block} was stored, but ${rest}`;
}

/** @param replaced - replace and sync the file: for a lower note. @throws StoreError WRITE_FAILED */
export function writeNote(directory: string, note: AcknowledgedNote, replaced: boolean): void {
  const text = encodeNote(note);
  try {
    if (replaced || !writeOlderSlot(directory, text)) replaceNote(directory, text, replaced);
  } catch (error) {
    throw new StoreError("WRITE_FAILED", `${NOTE_FILE} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** @param store - what the error names. @throws StoreError STORE_DAMAGED if acknowledged blocks are missing */
export async function requireAcknowledged(
  directory: string,
  latest: number | undefined,
  store = directory,
): Promise<AcknowledgedNote | undefined> {
  const note = await readNote(directory);
  const loss = note === undefined ? undefined : describeLoss(note, latest);
  if (loss !== undefined) throw new StoreError("STORE_DAMAGED", `${store} is damaged: ${NOTE_FILE}: ${loss}`);
  return note;
}

/** Of a store that is left without blocks. Synced: a note that names a removed block would show a loss. */
export function removeNote(directory: string): void {
  rmSync(join(directory, NOTE_FILE), {force: true});
  withFile(directory, "r", fsyncSync);
}

/** @returns false if there is no file whose slots can be told apart. @throws the system's errors */
function writeOlderSlot(directory: string, text: string): boolean {
  try {
    return withFile(join(directory, NOTE_FILE), "r+", file => {
      const bytes = Buffer.alloc(2 * SLOT_BYTES);
      if (readSync(file, bytes, 0, bytes.length, 0) < bytes.length) return false;
      const newest = newestSlot(bytes);
      if (newest === undefined) return false;
      return writeSync(file, text, newest.at === 0 ? SLOT_BYTES : 0) === NOTE_BYTES;
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function replaceNote(directory: string, text: string, synced: boolean): void {
  const draft = join(directory, NOTE_DRAFT_FILE);
  writeFileSync(draft, text.padEnd(2 * SLOT_BYTES), {flush: synced});
  renameSync(draft, join(directory, NOTE_FILE));
  if (synced) withFile(directory, "r", fsyncSync);
}

function encodeNote({block, log, bytes}: AcknowledgedNote): string {
  const crc = checksum({block, log, bytes});
  return `${JSON.stringify({block, log, bytes, crc}).padEnd(NOTE_BYTES - 1)}\n`;
}

function newestSlot(file: Buffer): {readonly note: AcknowledgedNote; readonly at: number} | undefined {
  const [first, second] = [0, SLOT_BYTES].map(at => {
    const text = file.toString("latin1", at, at + SLOT_BYTES);
    const [, block, log, bytes, crc] = NOTE.exec(text) ?? [];
    const note = {block: Number(block), log: Number(log), bytes: Number(bytes)};
    return crc === checksum(note) ? {note, at} : undefined;
  });
  return first === undefined || (second !== undefined && isAbove(second.note, first.note)) ? second : first;
}

function isAbove(a: AcknowledgedNote, b: AcknowledgedNote): boolean {
  return (a.block - b.block || a.log - b.log || a.bytes - b.bytes) > 0;
}

function checksum({block, log, bytes}: AcknowledgedNote): string {
  return crc32(`${block} ${log} ${bytes}`).toString(16).padStart(8, "0");
}
