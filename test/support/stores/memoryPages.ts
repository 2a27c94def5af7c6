/** Records of pages in memory, numbered from 1 in writing order. Trees are written to them and read from them without a store. */
import assert from "node:assert/strict";
import {StoreError} from "../../../storage/errors.ts";
import {toHex} from "../../../storage/hex.ts";
import {
  chooseForm,
  type OpenPage,
  openRecordedPage,
  type ReplacedPage,
} from "../../../storage/page/pageDifference.ts";
import type {TriePageWriter} from "../../../storage/trie/trieStore.ts";

/** Room that an encoded page must leave at its end, as for a record's checksum. */
const SPARE_BYTES = 4;

export class MemoryPages implements TriePageWriter {
  readonly nodes = new Map<string, Uint8Array>();
  private readonly records: Buffer[] = [];
  private readonly opened = new Map<number, OpenPage>();

  get count(): number {
    return this.records.length;
  }

  read(page: number): Buffer {
    return this.open(page).body;
  }

  readonly open = (page: number): OpenPage => {
    const opened = this.opened.get(page) ?? openRecordedPage(page, this.recordOf(page), this.open);
    this.opened.set(page, opened);
    return opened;
  };

  recordOf(page: number): Buffer {
    const record = this.records[page - 1];
    if (record === undefined) throw new StoreError("RECORD_MISSING", `page ${page} is not in the store`);
    return record;
  }

  findNode(hash: Uint8Array): Uint8Array | undefined {
    return this.nodes.get(toHex(hash));
  }

  putNode(hash: Uint8Array, node: Uint8Array): void {
    this.nodes.set(toHex(hash), node);
  }

  putPage(encode: (spare: number) => Buffer, before?: ReplacedPage): number {
    const whole = encode(SPARE_BYTES);
    const body = whole.subarray(0, whole.length - SPARE_BYTES);
    const page = this.records.length + 1;
    const {record, opened} = chooseForm(this.open, page, before ?? {page: 0}, body, SPARE_BYTES);
    const number = this.records.push(record?.subarray(0, record.length - SPARE_BYTES) ?? body);
    const read = openRecordedPage(number, this.recordOf(number), this.open);
    assert.ok(read.body.equals(body), `page ${number} is not what its difference says`);
    // One of two is known to the writer of the next version, the other one is read.
    this.opened.set(number, number % 2 === 0 ? opened : read);
    return number;
  }

  replace(page: number, body: Buffer): void {
    this.records[page - 1] = body;
    this.opened.clear();
  }
}
