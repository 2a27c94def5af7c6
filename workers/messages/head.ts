/** Which blocks a store holds and can prove now. */

/** `earliest`: the oldest block that is not pruned. All are undefined while the store is empty. */
export interface Head {
  readonly earliest: number | undefined;
  readonly finalized: number | undefined;
  readonly latest: number | undefined;
}
