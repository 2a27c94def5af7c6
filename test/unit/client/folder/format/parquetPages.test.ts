/** Pages of Parquet that claim more than they have are refused before they are unpacked. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {checkPages} from "../../../../../client/folder/format/parquetPages.ts";

const MAX_VALUES = 100;
const DICTIONARY_INDEXES = 8;

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];
}

/** Fields of numbers from 1 on; undefined: there is none. */
function numbers(values: readonly (number | undefined)[]): number[] {
  let last = 0;
  const fields = values.flatMap((value, at) => {
    if (value === undefined) return [];
    const head = (at + 1 - last) * 16 + 5;
    last = at + 1;
    return [head, ...varint(2 * value)];
  });
  return fields;
}

interface Page {
  readonly values?: number;
  readonly nulls?: number;
  readonly encoding?: number;
  readonly levels?: readonly number[];
  readonly repeated?: number;
  readonly body?: readonly number[];
  readonly length?: number;
  readonly type?: number;
}

/** A data page whose body is not compressed further. */
function dataPage(page: Page): Uint8Array {
  const {values = 8, nulls = 0, encoding = 0, levels = [], repeated = 0, body = [1, 2, 3], type = 3} = page;
  const bytes = [...levels, ...body];
  const inner = numbers([values, nulls, values, encoding, levels.length, repeated]);
  const outer = numbers([type, page.length ?? bytes.length, bytes.length]);
  return Uint8Array.from([...outer, 0x5c, ...inner, 0, 0, ...bytes]);
}

function dictionary(values: number): Uint8Array {
  return Uint8Array.from([...numbers([2, 2, 2]), 0x4c, ...numbers([values, 0]), 0, 0, 7, 7]);
}

const check = (page: Uint8Array) => checkPages(page, MAX_VALUES, bytes => bytes);
/** Of one value many times. */
const run = (count: number, value: readonly number[]) => [...varint(2 * count), ...value];
const packed = (groups: number, bytes: readonly number[]) => [...varint(2 * groups + 1), ...bytes];

test("pages with as many values as they say are taken, plain and by indexes, with and without levels", () => {
  check(dataPage({}));
  check(dataPage({values: 100, nulls: 100, levels: run(100, [0])}));
  check(dataPage({values: 12, levels: [...packed(1, [0xff]), ...run(4, [1])]}));
  check(dataPage({values: 12, levels: packed(2, [0xff, 0xff])}));
  check(dataPage({encoding: DICTIONARY_INDEXES, body: [0, ...run(8, [])]}));
  check(dataPage({encoding: DICTIONARY_INDEXES, values: 20, nulls: 10, body: [9, ...run(10, [1, 0])]}));
  check(Uint8Array.from([...dictionary(100), ...dataPage({})]));
});

test("a page, a run or a dictionary with more values than a group has rows is refused", () => {
  const refused: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ["values", dataPage({values: 101}), /at most 100 in a page, got 101/],
    ["nulls", dataPage({nulls: 9}), /at most 8 in a page, got 9/],
    ["levels", dataPage({levels: run(2 ** 27, [1])}), /at most 8 in a page, got 134217728/],
    ["packed levels", dataPage({levels: packed(2, [1, 1])}), /at most 15 in a page, got 16/],
    ["packed levels that end", dataPage({values: 16, levels: packed(2, [1])}), /ends too early/],
    ["runs without values", dataPage({levels: [...run(0, [1]), ...run(0, [1])]}), /ends too early/],
    ["indexes", dataPage({encoding: DICTIONARY_INDEXES, body: [1, ...run(9, [1])]}), /at most 8/],
    [
      "indexes of no bits",
      dataPage({encoding: DICTIONARY_INDEXES, body: [0, ...run(2 ** 27, [])]}),
      /at most 8/,
    ],
    ["bits", dataPage({encoding: DICTIONARY_INDEXES, body: [32, ...run(8, [1, 1, 1, 1])]}), /at most 24/],
    ["dictionary", dictionary(101), /at most 100 in a page, got 101/],
    ["other encoding", dataPage({encoding: 5}), /plain values or indexes, got 5/],
    ["repeated values", dataPage({repeated: 1}), /without repeated values/],
    ["old pages", dataPage({type: 0}), /pages of type 2 or 3, got 0/],
    ["no header", Uint8Array.from([0]), /field 1 in the header/],
    ["half a page", dataPage({}).subarray(0, -1), /ends too early/],
  ];
  for (const [what, page, message] of refused) assert.throws(() => check(page), message, what);
});
