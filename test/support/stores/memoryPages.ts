/** Pages in memory, numbered from 1 in writing order. Trees are written to them and read from them without a store. */
import type {PageWriter} from "../../../storage/page/pages.ts";

/** Room that an encoded page must leave at its end, as for a record's checksum. */
const SPARE_BYTES = 4;

export class MemoryPages implements PageWriter {
  private readonly pages: Buffer[] = [];

  get count(): number {
    return this.pages.length;
  }

  read(page: number): Buffer {
    const body = this.pages[page - 1];
    if (body === undefined) throw new Error(`no page ${page}`);
    return body;
  }

  putPage(encode: (spare: number) => Buffer, _before?: number): number {
    const value = encode(SPARE_BYTES);
    return this.pages.push(value.subarray(0, value.length - SPARE_BYTES));
  }

  /** Replaces the page with this number, as damage would. */
  replace(page: number, body: Buffer): void {
    this.pages[page - 1] = body;
  }
}
