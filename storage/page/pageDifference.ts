/**
 * A page that is stored as a difference to the older page that it replaces.
 *
 *   '+' | back varint | steps      a difference to a whole page or to an anchor: the page whose number is lower by `back`
 *   '*' | back varint | steps      an anchor: a difference to a whole page, which later differences have as their base
 *   step   kept varint | 2 * n varint | n bytes, in place of as many of the base
 *          kept varint | 2 * n + 1 varint | cut varint | n bytes, in place of `cut` bytes of the base
 *
 *   whole          *  +  +  +  *  +  +  whole         so a page is made of three records at most
 *     └─ +  +  + ──┴─ ... ──────────┴─ ...
 *
 * Bytes after the last step are those of the base. A varint has 7 bits in a byte, the lowest first. The code that knows
 * the layout of the pages computes the steps.
 */
import {StoreError} from "../errors.ts";

const DIFFERENCE = 0x2b;
const ANCHOR = 0x2a;

/** Up to this many bytes are copied one by one: a call of copy() takes as long as about 100 of them. */
const MOST_SINGLY = 100;
/** More than half of any page that has differences by steps, and one step more. */
const MAX_STEPS_BYTES = 2048;
const MAX_STEP_BYTES = 64;

export interface OpenPage {
  readonly body: Buffer;
  /** The page that its record is a difference to; 0: the record is the full page. */
  readonly base: number;
  readonly isAnchor: boolean;
  /** The page `base`, if it is known: a writer need not read it again. */
  readonly based?: OpenPage | undefined;
  /** Known of an inner page that this writer has written: it needs no older page for the next difference. */
  readonly changes?: Changes | undefined;
  /** Nothing else uses the memory of the body. */
  readonly isOwn?: boolean;
}

/** What has changed in a page, one bit for each part. */
interface Changes {
  readonly sinceBase: number;
  /** 0: the record is the full page. */
  readonly whole: number;
  readonly sinceWhole: number;
}

/**
 * The longest difference to the base, as a part of the page's bytes. A longer one becomes an anchor. With 0.1 and 0.4,
 * a leaf write of a trie took 364 bytes instead of 346 (62 500 accounts, 500 blocks of 350).
 */
const DIFFERENCE_PART = 0.15;
/** The longest anchor, as a part of the page's bytes. Otherwise the full page is stored. */
const ANCHOR_PART = 0.5;

export interface ReplacedPage {
  /** 0: there is none. */
  readonly page: number;
  /** Not for kinds that have no differences. @returns the steps from `base`, a view; undefined: more than `most` bytes */
  readonly differ?: (base: Buffer, most: number) => Uint8Array | undefined;
  /** In place of `differ`, for kinds whose differences follow from the parts that have changed. */
  readonly parts?: ChangedParts | undefined;
}

interface ChangedParts {
  /** Since the page that is replaced. */
  readonly changed: number;
  /** @returns the parts that differ from an older version */
  readonly compare: (base: Buffer, page: Buffer) => number;
  readonly encode: (changed: number, most: number, page: Buffer) => Uint8Array | undefined;
}

/** @param page - the new one's number. @returns the form, and the record unless it is the page itself */
export function chooseForm(
  open: (page: number) => OpenPage,
  page: number,
  {page: before, differ, parts}: ReplacedPage,
  body: Buffer,
  spare: number,
): {readonly opened: OpenPage; readonly record: Buffer | undefined} {
  const whole = {opened: {body, base: 0, isAnchor: false, based: undefined}, record: undefined};
  if (before !== 0 && parts !== undefined)
    return chooseByParts(open, page, {before, parts}, body, spare) ?? whole;
  if (before === 0 || differ === undefined) return whole;
  const last = open(before);
  const isToBase = last.base === 0 || last.isAnchor;
  const base = isToBase ? before : last.base;
  const based = isToBase ? last : (last.based ?? open(base));
  const steps = differ(based.body, Math.floor(body.length * DIFFERENCE_PART));
  if (steps !== undefined) {
    const record = encodeDifference(DIFFERENCE, page - base, steps, spare);
    return {opened: {body, base, isAnchor: false, based}, record};
  }
  const first = based.base === 0 ? base : based.base;
  const firstPage = based.base === 0 ? based : (based.based ?? open(first));
  const anchor = differ(firstPage.body, Math.floor(body.length * ANCHOR_PART));
  if (anchor === undefined) return whole;
  const record = encodeDifference(ANCHOR, page - first, anchor, spare);
  return {opened: {body, base: first, isAnchor: true, based: firstPage}, record};
}

/** The same for a kind whose changed parts are known. @returns undefined: too many have changed */
function chooseByParts(
  open: (page: number) => OpenPage,
  page: number,
  {before, parts}: {readonly before: number; readonly parts: ChangedParts},
  body: Buffer,
  spare: number,
): {readonly opened: OpenPage; readonly record: Buffer} | undefined {
  const last = open(before);
  const known = last.changes ?? compareParts(open, last, parts);
  const isToBase = last.base === 0 || last.isAnchor;
  const base = isToBase ? before : last.base;
  const whole = last.base === 0 ? before : known.whole;
  const sinceWhole = known.sinceWhole | parts.changed;
  const sinceBase = isToBase ? parts.changed : known.sinceBase | parts.changed;
  const steps = parts.encode(sinceBase, Math.floor(body.length * DIFFERENCE_PART), body);
  if (steps !== undefined) {
    const record = encodeDifference(DIFFERENCE, page - base, steps, spare);
    return {opened: {body, base, isAnchor: false, changes: {sinceBase, whole, sinceWhole}}, record};
  }
  const anchor = parts.encode(sinceWhole, Math.floor(body.length * ANCHOR_PART), body);
  if (anchor === undefined) return undefined;
  const record = encodeDifference(ANCHOR, page - whole, anchor, spare);
  const changes = {sinceBase: sinceWhole, whole, sinceWhole};
  return {opened: {body, base: whole, isAnchor: true, changes}, record};
}

/** Of a page that was read. */
function compareParts(open: (page: number) => OpenPage, last: OpenPage, {compare}: ChangedParts): Changes {
  if (last.base === 0) return {sinceBase: 0, whole: 0, sinceWhole: 0};
  const based = last.based ?? open(last.base);
  const sinceBase = compare(based.body, last.body);
  if (based.base === 0) return {sinceBase, whole: last.base, sinceWhole: sinceBase};
  return {sinceBase, whole: based.base, sinceWhole: compare(open(based.base).body, last.body)};
}

/** Writes the steps from a base to a page. One is kept in memory for all differences. */
export class DifferenceSteps {
  private readonly bytes = Buffer.allocUnsafeSlow(MAX_STEPS_BYTES);
  private length = 0;
  private most = 0;
  private baseAt = 0;

  begin(most: number): void {
    this.length = 0;
    this.baseAt = 0;
    this.most = Math.min(most, MAX_STEPS_BYTES - MAX_STEP_BYTES);
  }

  /** Puts `page` from `from` to `to`, at most 32 bytes, in the place of those of the base. In ascending order. */
  replace(page: Buffer, from: number, to: number): void {
    if (this.length > this.most) return;
    this.varint(from - this.baseAt);
    this.varint(2 * (to - from));
    for (let at = from; at < to; at++) this.bytes[this.length++] = page[at] as number;
    this.baseAt = to;
  }

  /** @returns the steps, a view; undefined: more than `most` */
  end(): Uint8Array | undefined {
    return this.length > this.most ? undefined : this.bytes.subarray(0, this.length);
  }

  private varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes[this.length++] = (rest % 128) | 128;
    this.bytes[this.length++] = rest;
  }
}

function encodeDifference(
  kind: typeof DIFFERENCE | typeof ANCHOR,
  back: number,
  steps: Uint8Array,
  spare: number,
): Buffer {
  const stepsAt = 1 + varintBytes(back);
  const record = Buffer.allocUnsafe(stepsAt + steps.length + spare);
  record[0] = kind;
  for (let at = 1, rest = back; at < stepsAt; at++, rest = Math.floor(rest / 128))
    record[at] = (rest % 128) | (at + 1 < stepsAt ? 128 : 0);
  record.set(steps, stepsAt);
  return record;
}

export function isDifference(record: Buffer): boolean {
  return record[0] === DIFFERENCE || record[0] === ANCHOR;
}

/**
 * @param open - reads the base. @param isOwn - for readers: makes the page in the body of a base that is own
 * @throws StoreError RECORD_DAMAGED, and those of `open`
 */
export function openRecordedPage(
  page: number,
  record: Buffer,
  open: (page: number) => OpenPage,
  isOwn = false,
): OpenPage {
  if (!isDifference(record)) return {body: record, base: 0, isAnchor: false};
  const back = readVarint(record, 1);
  const base = page - back;
  if (!(back > 0 && base > 0))
    throw new StoreError(
      "RECORD_DAMAGED",
      `page ${page}: it is a difference to page ${base}, which is not an older page`,
    );
  const based = open(base);
  const body = based.isOwn === true ? based.body : Buffer.from(based.body);
  const made = applyDifference(page, body, record, 1 + varintBytes(back));
  return {body: made, base, isAnchor: record[0] === ANCHOR, based: isOwn ? undefined : based, isOwn};
}

/** @param base - is overwritten. @throws StoreError RECORD_DAMAGED */
function applyDifference(number: number, base: Buffer, record: Buffer, stepsAt: number): Buffer {
  // Nearly all steps have as many bytes as they replace: then those between them are in place.
  let page = base;
  let old = 0;
  let to = 0;
  for (let at = stepsAt; at < record.length; ) {
    const kept = readVarint(record, at);
    at += varintBytes(kept);
    const head = readVarint(record, at);
    at += varintBytes(head);
    const length = Math.floor(head / 2);
    let cut = length;
    if (head % 2 === 1) {
      cut = readVarint(record, at);
      at += varintBytes(cut);
    }
    if (!(old + kept + cut <= base.length && at + length <= record.length))
      throw new StoreError("RECORD_DAMAGED", `page ${number}: its difference does not fit its base`);
    if (cut !== length && page === base) {
      page = Buffer.allocUnsafe(base.length + record.length);
      copy(base, 0, old, page, 0);
    }
    if (page !== base) copy(base, old, kept, page, to);
    copy(record, at, length, page, to + kept);
    old += kept + cut;
    to += kept + length;
    at += length;
  }
  if (page === base) return page;
  copy(base, old, base.length - old, page, to);
  return page.subarray(0, to + base.length - old);
}

function copy(from: Buffer, first: number, bytes: number, page: Buffer, to: number): void {
  if (bytes > MOST_SINGLY) from.copy(page, to, first, first + bytes);
  else for (let i = 0; i < bytes; i++) page[to + i] = from[first + i] as number;
}

/** @returns NaN if the bytes end within it */
function readVarint(bytes: Buffer, at: number): number {
  let value = 0;
  let factor = 1;
  let from = at;
  for (; (bytes[from] as number) > 127 && factor < 2 ** 42; factor *= 128)
    value += ((bytes[from++] as number) & 0x7f) * factor;
  return value + (bytes[from] as number) * factor;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let most = 128; value >= most; most *= 128) bytes++;
  return bytes;
}
