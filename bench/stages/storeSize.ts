/** Sizes of the bench stores, in a file of their own so that flags are parsed without loading the rest. */

/** The first accounts of block 0, which own tokens. */
export const HOLDERS = 1000;
/** Default number of blocks after block 0. */
export const DEFAULT_BLOCKS = 300;
