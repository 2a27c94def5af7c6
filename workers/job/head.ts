/** Which blocks a store holds and can prove now. */

/**
 * Which blocks can be proved. `earliest` is the oldest block that is not pruned, and `finalized` the newest finalized block in
 * the store; all are undefined while the store is empty.
 */
export interface Head {
  readonly earliest: number | undefined;
  readonly finalized: number | undefined;
  readonly latest: number | undefined;
  /** Blocks from this one on await their audit, and are not finalized before. Not there: none does. */
  readonly unaudited?: number;
}

/** The newest block that may be finalized now; -1 for none. */
export function finalizable({
  latest = -1,
  unaudited = latest + 1,
}: Pick<Head, "latest" | "unaudited">): number {
  return unaudited - 1;
}
