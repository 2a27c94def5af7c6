/**
 * A note of the blocks that were acknowledged, in the store's directory. LevelDB alone cannot tell whether the end of its log
 * is torn or lost.
 *
 *   ACKNOWLEDGED   {"block":99,"log":5,"bytes":123456,"crc":"1a2b3c4d"}\n
 *
 *   block   the newest block in the store is this one or a later one
 *   log     number of the last log written, on disk up to byte `bytes`; or its blocks are in tables by now
 *   crc     crc32 of the text `block log bytes`
 *
 * The note is a lower bound, so it needs no sync of its own: it is written after a batch was synced, and an older note is
 * true too. Only a rollback makes it wrong; so a rollback first lowers the note and syncs it. The note is replaced by
 * renaming, so it is never half written. On some file systems a power cut may leave it empty or full of zeros; then it says
 * nothing.
 */
import {closeSync, fsyncSync, openSync, renameSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {crc32} from "node:zlib";
import {StoreError} from "../errors.ts";
import {FileDamage} from "./fileDamage.ts";
import {readSmallFile} from "./levelManifest.ts";

export const NOTE_FILE = "ACKNOWLEDGED";
export const NOTE_DRAFT_FILE = "ACKNOWLEDGED.new";
const NOTE = /^\{"block":(\d{1,15}),"log":(\d{1,15}),"bytes":(\d{1,15}),"crc":"([0-9a-f]{8})"\}\n$/;

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
  if (bytes.every(byte => byte === 0)) return undefined;
  const [, block, log, end, crc] = NOTE.exec(bytes.toString("latin1")) ?? [];
  const note = {block: Number(block), log: Number(log), bytes: Number(end)};
  if (crc === checksum(note)) return note;
  throw new FileDamage({file: NOTE_FILE, offset: undefined, what: "it is not what was written"});
}

/**
 * @returns a text about the acknowledged blocks that are missing, or undefined if all are held. @param latest - the newest block
 */
export function describeLoss(note: AcknowledgedNote, latest: number | undefined): string | undefined {
  if (latest !== undefined && note.block <= latest) return undefined;
  const rest = latest === undefined ? "the store holds no block" : `the newest is block ${latest}`;
  return `it says that block ${note.block} was held, and ${rest}`;
}

/**
 * @param synced - must the note be on disk before anything else is written?
 * @throws StoreError WRITE_FAILED
 */
export function writeNote(directory: string, {block, log, bytes}: AcknowledgedNote, synced: boolean): void {
  const crc = checksum({block, log, bytes});
  const draft = join(directory, NOTE_DRAFT_FILE);
  try {
    withFile(draft, "w", file => {
      // Not writeSync, which may write a part on a disk that gets full.
      writeFileSync(file, `${JSON.stringify({block, log, bytes, crc})}\n`);
      if (synced) fsyncSync(file);
    });
    renameSync(draft, join(directory, NOTE_FILE));
    if (synced) withFile(directory, "r", fsyncSync);
  } catch (error) {
    throw new StoreError("WRITE_FAILED", `${NOTE_FILE} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * @param store - what the error names
 * @returns the note, if there is one
 * @throws StoreError STORE_DAMAGED if acknowledged blocks are missing
 */
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

function checksum({block, log, bytes}: AcknowledgedNote): string {
  return crc32(`${block} ${log} ${bytes}`).toString(16).padStart(8, "0");
}

function withFile(path: string, flags: string, use: (file: number) => void): void {
  const file = openSync(path, flags);
  try {
    use(file);
  } finally {
    closeSync(file);
  }
}
