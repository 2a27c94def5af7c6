/** Reads an open store from LevelDB, or from its files while LevelDB is reopened. */
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

  /** Switches to the files as they are now. @throws as FileSnapshot.open */
  async readFiles(directory: string): Promise<void> {
    this.files = await FileSnapshot.open(directory);
  }

  readLevel(): void {
    this.files?.close();
    this.files = undefined;
  }
}
