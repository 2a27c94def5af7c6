/**
 * How many blocks one eth_getLogs asks for. Each node has its own limit: 1 000 to 100 000 blocks, or a number of results. A
 * node that refuses a range names its limit only in words, each in its own. So a refused range is halved, and doubled again after
 * a while.
 */

const FIRST_BLOCKS = 1_000;
const MOST_BLOCKS = 100_000;
/** After a refusal, this many answers come before a wider range is tried. */
const PATIENCE = 16;

export class LogRange {
  blocks = FIRST_BLOCKS;
  private answersUntilGrowth = 0;

  /** A range of this width was answered. */
  noteAnswer(): void {
    if (this.answersUntilGrowth > 0) this.answersUntilGrowth--;
    else this.blocks = Math.min(2 * this.blocks, MOST_BLOCKS);
  }

  /** A range of `blocks` was refused. @returns false if it had one block: there is no smaller one */
  noteRefusal(blocks: number): boolean {
    this.answersUntilGrowth = PATIENCE;
    this.blocks = Math.max(1, Math.floor(Math.min(blocks, this.blocks) / 2));
    return blocks > 1;
  }
}
