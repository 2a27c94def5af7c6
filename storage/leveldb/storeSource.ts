/**
 * The records of a store: LevelDB's, or those in its files while LevelDB cannot be open.
 */
import type {Level} from "level";
import {FileSnapshot} from "./fileSnapshot.ts";
import type {KeyRange, RecordSource} from "./recordSource.ts";

export class StoreSource implements RecordSource {
  private files: FileSnapshot | undefined;
  private current: RecordSource;

  constructor(private readonly db: Level<Buffer, Buffer>) {
    this.current = db;
  }

  getSync(key: Buffer): Buffer | undefined {
    return this.current.getSync(key);
  }

  iterator(
    edge: KeyRange & {readonly reverse: boolean; readonly limit: 1},
  ): ReturnType<RecordSource["iterator"]> {
    return this.current.iterator(edge);
  }

  /** From now on reads the files as they are now. @throws as FileSnapshot.open */
  async readFiles(directory: string): Promise<void> {
    const files = await FileSnapshot.open(directory);
    this.files?.close();
    this.files = files;
    this.current = files;
  }

  /** From now on reads LevelDB, which is open. */
  readLevel(): void {
    this.current = this.db;
    this.closeFiles();
  }

  closeFiles(): void {
    this.files?.close();
    this.files = undefined;
  }
}
