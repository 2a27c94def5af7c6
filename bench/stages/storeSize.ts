/** Sizes of the bench stores. They are apart from what makes the stores, so that flags are checked without loading that. */

/** The first accounts of block 0: they hold tokens and are changed in every block. */
export const HOLDERS = 1000;
/** Blocks of history after block 0, by default. */
export const DEFAULT_BLOCKS = 300;
