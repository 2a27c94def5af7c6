/**
 * Where a pull goes on, as text that callers keep:
 *
 *   1.BLOCK.ENTRY.KEY     version, and in decimal: the block, entries that are done, and storage keys of the next one that are done
 */
const CURSOR = /^1\.(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,14})\.(0|[1-9][0-9]{0,14})$/;

export interface PullPlace {
  readonly block: bigint;
  /** Entries of the source that are done. */
  readonly entry: number;
  /** Storage keys of the next entry that are done. */
  readonly key: number;
}

export function encodeCursor({block, entry, key}: PullPlace): string {
  return `1.${block}.${entry}.${key}`;
}

/** @throws TypeError for text that encodeCursor does not write */
export function decodeCursor(cursor: string): PullPlace {
  const [, block, entry, key] = CURSOR.exec(cursor) ?? [];
  if (block === undefined)
    throw new TypeError("the cursor: expected one that pullProofs gave, got other text");
  return {block: BigInt(block), entry: Number(entry), key: Number(key)};
}
