/** Pages in memory, numbered from 1 in writing order: what trees are written to and read from without a store. */
import type {PageWriter} from "../../../storage/page/pages.ts";

/** As a record's checksum: room that an encoded page has to leave at its end. */
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

  putPage(encode: (spare: number) => Buffer): number {
    const value = encode(SPARE_BYTES);
    return this.pages.push(value.subarray(0, value.length - SPARE_BYTES));
  }

  /** Puts another page under a number in use, as damage would. */
  replace(page: number, body: Buffer): void {
    this.pages[page - 1] = body;
  }
}
