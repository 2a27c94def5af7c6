/**
 * The adaptive size of requests to a node. Nodes have limits that they state in prose, if at all. So a refused size is
 * halved. After a number of responses it is doubled again, because the refusal may have had another reason, and from
 * then on with each response until the next refusal.
 */
export class RequestSize {
  private answersUntilGrowth = 0;

  /** @param value, most - the first and the largest size. @param patience - responses before a larger one is tried */
  constructor(
    public value: number,
    private readonly most: number,
    private readonly patience: number,
  ) {}

  noteAnswer(): void {
    if (this.answersUntilGrowth > 0) this.answersUntilGrowth--;
    else this.value = Math.min(2 * this.value, this.most);
  }

  /** A request of this size, at most `value`, was refused. @returns false if the size was 1, the minimum */
  noteRefusal(size: number): boolean {
    this.answersUntilGrowth = this.patience;
    // Requests that were sent together are refused together: they shrink it once.
    this.value = Math.max(1, Math.min(this.value, Math.floor(size / 2)));
    return size > 1;
  }
}
