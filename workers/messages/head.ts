/** Which blocks a store holds and can prove now. */

/**
 * Which blocks can be proved. `earliest` is the oldest block that is not pruned, and `finalized` the newest finalized
 * block in the store; all are undefined while the store is empty.
 */
export interface Head {
  readonly earliest: number | undefined;
  readonly finalized: number | undefined;
  readonly latest: number | undefined;
}
