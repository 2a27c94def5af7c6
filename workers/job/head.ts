/** Which blocks a store holds and can prove. */

/** Which blocks can be proved. `finalized` is the newest finalized block held; all null while the store is empty. */
export interface Head {
  readonly earliest: number | null;
  readonly finalized: number | null;
  readonly latest: number | null;
}
