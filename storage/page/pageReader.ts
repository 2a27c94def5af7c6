/** Reads and writes of pages, for code that need not know where they are stored. */
import {StoreError} from "../errors.ts";
import type {ReplacedPage} from "./pageDifference.ts";

/**
 * Reads one page's body (without its checksum). An inner page has the rows that are stored, or all rows (innerPage.ts).
 *
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export interface PageReader {
  read(page: number): Buffer;
}

/** Also takes new pages, and reads them before they are written. */
export interface PageWriter extends PageReader {
  /** @param encode - leaves `spare` bytes free at the page's end. @param before - the page that it replaces */
  putPage(encode: (spare: number) => Buffer, before?: ReplacedPage): number;
}

/** @throws StoreError RECORD_DAMAGED if `body` is not of the kind that the pointer to it expects */
export function expectKind(body: Buffer, kind: number, page: number): Buffer {
  if (body[0] !== kind)
    throw new StoreError("RECORD_DAMAGED", `page ${page}: expected kind ${kind}, got ${body[0]}`);
  return body;
}
