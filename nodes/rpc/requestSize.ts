/**
 * How much to ask a node for in one request. Each node has its own limit, and names it only in words, if at all. So a
 * size that is refused is halved. After a number of answers it is doubled again, because the refusal may have been for
 * another reason, and from then on with each answer until the next refusal.
 */
export class RequestSize {
  private answersUntilGrowth = 0;

  /**
   * @param value - the first size
   * @param most - the largest one
   * @param patience - answers after a refusal before a larger size is tried
   */
  constructor(
    public value: number,
    private readonly most: number,
    private readonly patience: number,
  ) {}

  /** A request of this size was answered. */
  noteAnswer(): void {
    if (this.answersUntilGrowth > 0) this.answersUntilGrowth--;
    else this.value = Math.min(2 * this.value, this.most);
  }

  /**
   * A request of this `size` was refused. It may be smaller than `value`.
   *
   * @returns false if the size was 1, the smallest there is
   */
  noteRefusal(size: number): boolean {
    this.answersUntilGrowth = this.patience;
    this.value = Math.max(1, Math.floor(Math.min(size, this.value) / 2));
    return size > 1;
  }
}
