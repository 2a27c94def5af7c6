/**
 * A cache of pages by number, limited in bytes, with two generations. When the young generation is full it becomes the old
 * one. Old pages survive if they are asked for again. Pages never change once written, so they never become invalid.
 */

/** What a cached page costs in addition to its bytes: the Buffer object and the map entry. */
const PAGE_OVERHEAD_BYTES = 200;

export class PageCache {
  private young = new Map<number, Buffer>();
  private old = new Map<number, Buffer>();
  private youngBytes = 0;
  private readonly generationBytes: number;

  constructor(bytes: number) {
    this.generationBytes = bytes / 2;
  }

  get(page: number): Buffer | undefined {
    const cached = this.young.get(page);
    if (cached !== undefined) return cached;
    const kept = this.old.get(page);
    if (kept !== undefined) this.keep(page, kept);
    return kept;
  }

  keep(page: number, body: Buffer): void {
    this.young.set(page, body);
    this.youngBytes += body.length + PAGE_OVERHEAD_BYTES;
    if (this.youngBytes > this.generationBytes) {
      this.old = this.young;
      this.young = new Map();
      this.youngBytes = 0;
    }
  }
}
