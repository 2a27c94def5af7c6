/** Where the pieces of a file in LevelDB's log format lie: 32 KB blocks of 7-byte headers and bytes. */

export interface LogPiece {
  /** Where the header begins. */
  readonly start: number;
  readonly end: number;
  /** 1 FULL, 2 FIRST, 3 MIDDLE, 4 LAST. */
  readonly type: number;
}

const BLOCK_BYTES = 32 << 10;
const HEADER_BYTES = 7;

export function logPieces(log: Buffer): LogPiece[] {
  const pieces: LogPiece[] = [];
  for (let start = 0; start < log.length; ) {
    const left = BLOCK_BYTES - (start % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      start += left;
      continue;
    }
    const end = start + HEADER_BYTES + log.readUInt16LE(start + 4);
    pieces.push({start, end, type: log[start + 6] as number});
    start = end;
  }
  return pieces;
}

/** Places that matter in a piece: in its checksum, length and type, and the first and last byte of its content. */
export function placesIn({start, end}: LogPiece): number[] {
  return [start, start + 3, start + 4, start + 5, start + 6, start + 7, end - 1];
}
