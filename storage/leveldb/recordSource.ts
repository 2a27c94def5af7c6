/** Where a reader gets its records from: LevelDB, or its files (fileSnapshot.ts). */

/** A range that includes both of its ends. */
export interface KeyRange {
  readonly gte: Buffer;
  readonly lte: Buffer;
}

export interface RecordSource {
  /** @returns undefined if there is no such key. @throws if the files are damaged or cannot be read */
  getSync(key: Buffer): Buffer | undefined;
  /** The first record of a range, or its last one with `reverse`. */
  iterator(edge: KeyRange & {readonly reverse: boolean; readonly limit: 1}): {
    all(): Promise<[key: Buffer, value: Buffer][]>;
  };
}
