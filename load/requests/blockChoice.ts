/**
 * Which blocks the proofs are for, as given by --blocks:
 *
 *   latest            the tag: the newest provable block, which moves with the head
 *   N, oldest         that block
 *   A..B              a random block of this range for each call; A and B are latest, oldest or N
 */

export type BlockEnd = number | "latest" | "oldest";

/** "latest": the tag. */
export type BlockChoice = "latest" | {readonly from: BlockEnd; readonly to: BlockEnd};

/** A range that includes both ends. */
export interface BlockSpan {
  readonly low: number;
  readonly high: number;
}

/**
 * @param oldest - first block that can be proved; undefined if the server does not say
 * @param newest - last block that can be proved; undefined if the server does not say
 * @returns the span, or the end that cannot be known
 */
export function resolveBlocks(
  choice: {readonly from: BlockEnd; readonly to: BlockEnd},
  oldest: number | undefined,
  newest: number | undefined,
): BlockSpan | "latest" | "oldest" {
  const resolved: number[] = [];
  for (const end of [choice.from, choice.to]) {
    const number = end === "latest" ? newest : end === "oldest" ? oldest : end;
    if (number === undefined) return end as "latest" | "oldest";
    resolved.push(number);
  }
  return {low: Math.min(...resolved), high: Math.max(...resolved)};
}
