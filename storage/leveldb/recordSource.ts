/**
 * Where a reader's records come from: LevelDB itself, or its files (fileSnapshot.ts).
 */

/** Both ends belong to it. */
export interface KeyRange {
  readonly gte: Buffer;
  readonly lte: Buffer;
}

export interface RecordSource {
  /** undefined: no such key. @throws where the files are damaged or cannot be read */
  getSync(key: Buffer): Buffer | undefined;
  /** The first key of a range, or the last one with `reverse`. */
  keys(edge: KeyRange & {readonly reverse: boolean; readonly limit: 1}): {all(): Promise<Buffer[]>};
}
