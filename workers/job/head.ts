/** Which blocks a store holds and can prove now. */

/**
 * Which blocks can be proved. `earliest` is the oldest block that is not pruned, and `finalized` the newest finalized block in
 * the store; all are undefined while the store is empty.
 */
export interface Head {
  readonly earliest: number | undefined;
  readonly finalized: number | undefined;
  readonly latest: number | undefined;
  /** Held blocks from this one on await their audit. They are not shown before, nor finalized. Not there: none does. */
  readonly unaudited?: number;
}
