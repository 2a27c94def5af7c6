/** Finds where LevelDB's log ends, which LevelDB does not report: it is on disk up to there after each synced batch. */
import {readdirSync, statSync} from "node:fs";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {logName, logNumber} from "./fileNames.ts";

export class LogTail {
  number = 0;
  bytes = 0;

  constructor(private readonly directory: string) {}

  /** A batch was written: either the log has grown, or there is a new log. @throws StoreError WRITE_FAILED */
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
