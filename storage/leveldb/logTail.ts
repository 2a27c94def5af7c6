/**
 * Where LevelDB's log ends now: it does not say which log it writes to, nor how far.
 *
 * For the one writer, after each of its synced batches: what the log has up to here is on disk.
 */
import {readdirSync, statSync} from "node:fs";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {logName, logNumber} from "./fileNames.ts";

export class LogTail {
  private readonly directory: string;
  /** Of the log's file. */
  number = 0;
  /** Of the log. */
  bytes = 0;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** A batch was written: the log that got it has grown, or else it is a new one. @throws StoreError WRITE_FAILED */
  advance(): void {
    try {
      this.find();
    } catch (error) {
      const reason = (error as Error).message;
      throw new StoreError("WRITE_FAILED", `LevelDB's log cannot be found: ${reason}`, {cause: error});
    }
  }

  private find(): void {
    const size = this.sizeOf(this.number);
    if (this.number > 0 && size > this.bytes) {
      this.bytes = size;
      return;
    }
    this.number = 0;
    for (const name of readdirSync(this.directory)) this.number = Math.max(this.number, logNumber(name) ?? 0);
    this.bytes = this.sizeOf(this.number);
  }

  private sizeOf(number: number): number {
    return statSync(join(this.directory, logName(number)), {throwIfNoEntry: false})?.size ?? 0;
  }
}
