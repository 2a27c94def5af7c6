/** A file of LevelDB, kept open until it has been copied: LevelDB may delete it in the meantime. */
import {closeSync, fstatSync, openSync, read} from "node:fs";
import {type FileHandle, open} from "node:fs/promises";
import {join} from "node:path";
import {promisify} from "node:util";
import {StoreError} from "../errors.ts";
import {FileDamage, findingOf, missingFile} from "../leveldb/fileDamage.ts";
import {READ_AT_ONCE} from "../regularFile.ts";

const CHUNK_BYTES = 1 << 20;

const readOpen = promisify(read);

export class OpenedFile {
  private constructor(
    readonly name: string,
    private readonly file: number,
    private readonly bytes: number,
  ) {}

  /** @throws FileDamage; StoreError STORE_UNREADABLE if too many files are open */
  static open(directory: string, name: string, manifest: string): OpenedFile {
    let file: number;
    try {
      file = openSync(join(directory, name), READ_AT_ONCE);
    } catch (error) {
      const {code, message} = error as NodeJS.ErrnoException;
      if (code === "ENOENT") throw new FileDamage(missingFile(name, manifest));
      if (code === "EMFILE" || code === "ENFILE")
        throw new StoreError("STORE_UNREADABLE", `all files must be open while they are copied: ${message}`);
      throw new FileDamage(findingOf(error, name));
    }
    return new OpenedFile(name, file, fstatSync(file).size);
  }

  close(): void {
    closeSync(this.file);
  }

  /**
   * Copies the bytes that the file had when it was opened, and syncs the copy.
   * @throws FileDamage; StoreError WRITE_FAILED; what `onCopied` throws
   */
  async copyTo(folder: string, onCopied: (bytes: number) => void): Promise<void> {
    const {bytes} = this;
    const chunk = Buffer.allocUnsafe(Math.min(bytes, CHUNK_BYTES));
    await writeFileAt(join(folder, this.name), "w", async copy => {
      for (let at = 0; at < bytes; ) {
        const got = await this.read(chunk, Math.min(chunk.length, bytes - at), at);
        if (got === 0) break; // the file was truncated: verifying the copy finds what is missing
        for (let from = 0; from < got; ) from += (await copy.write(chunk, from, got - from)).bytesWritten;
        at += got;
        onCopied(got);
      }
      await copy.sync();
    });
  }

  private async read(chunk: Buffer, length: number, at: number): Promise<number> {
    try {
      return (await readOpen(this.file, chunk, 0, length, at)).bytesRead;
    } catch (error) {
      throw new FileDamage(findingOf(error, this.name));
    }
  }
}

/** @throws StoreError WRITE_FAILED, and what `use` throws */
export async function writeFileAt(
  path: string,
  flags: "r+" | "w",
  use: (file: FileHandle) => Promise<void>,
): Promise<void> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, flags);
    await use(file);
  } catch (error) {
    throw cannotWrite(path, error);
  } finally {
    await file?.close();
  }
}

/** @returns a StoreError WRITE_FAILED for an error of the operating system, any other error unchanged */
export function cannotWrite(path: string, error: unknown): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  return new StoreError("WRITE_FAILED", `cannot write ${path}: ${error.message}`, {cause: error});
}
