/**
 * The records of an open store: LevelDB's, or those in its files for the moment in which LevelDB is closed and opened again.
 */
import type {Level} from "level";
import {FileSnapshot} from "../leveldb/fileSnapshot.ts";
import type {RecordSource} from "../leveldb/recordSource.ts";

export class StoreSource implements RecordSource {
  private files: FileSnapshot | undefined;

  constructor(private readonly db: Level<Buffer, Buffer>) {}

  getSync(key: Buffer): Buffer | undefined {
    return (this.files ?? this.db).getSync(key);
  }

  iterator(edge: Parameters<RecordSource["iterator"]>[0]): ReturnType<RecordSource["iterator"]> {
    return (this.files ?? this.db).iterator(edge);
  }

  /** From now on reads the files as they are now. @throws as FileSnapshot.open */
  async readFiles(directory: string): Promise<void> {
    this.files = await FileSnapshot.open(directory);
  }

  /** From now on reads LevelDB. */
  readLevel(): void {
    this.files?.close();
    this.files = undefined;
  }
}
