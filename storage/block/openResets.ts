/**
 * The record of the blocks with account resets that only their source reports. An account that is removed and created
 * again in one block gets a new leaf in the sparse trees, but the root of Ethereum's trie in the header is the same
 * either way, so it cannot confirm this.
 *
 *   from u48 | to u48     the first and the last such block. Empty or missing: there is none
 */
import {OPEN_RESETS} from "../record/layout.ts";
import {BodyReader, encodeNumber} from "../record/recordBody.ts";

export interface OpenResets {
  readonly from: number;
  readonly to: number;
}

export function encodeOpenResets(resets: OpenResets | undefined): Buffer {
  return resets === undefined
    ? Buffer.alloc(0)
    : Buffer.concat([encodeNumber(resets.from), encodeNumber(resets.to)]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeOpenResets(body: Buffer | undefined): OpenResets | undefined {
  if (body === undefined || body.length === 0) return undefined;
  const reader = new BodyReader(OPEN_RESETS.toString("latin1", 1), body);
  return reader.end({from: reader.number(), to: reader.number()});
}

export function openUpTo(resets: OpenResets | undefined, last: number): OpenResets | undefined {
  return resets === undefined || resets.from > last
    ? undefined
    : {from: resets.from, to: Math.min(resets.to, last)};
}

export function openAfter(resets: OpenResets | undefined, last: number): OpenResets | undefined {
  return resets === undefined || resets.to <= last
    ? undefined
    : {from: Math.max(resets.from, last + 1), to: resets.to};
}
