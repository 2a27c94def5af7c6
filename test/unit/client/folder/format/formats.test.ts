/** Every format gives back the rows that it took, and refuses rows that no pull writes. */
import assert from "node:assert/strict";
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import fc from "fast-check";
import {parquetReadObjects} from "hyparquet";
import {FORMAT_NAMES, type FormatName} from "../../../../../client/folder/format/formatName.ts";
import {FORMATS} from "../../../../../client/folder/partFile.ts";
import {PulledError} from "../../../../../client/folder/pulledError.ts";
import type {ColumnKind, ColumnValue} from "../../../../../client/folder/row/column.ts";
import {type AnyRow, TABLE_NAMES, TABLES, type Table} from "../../../../../client/folder/row/tables.ts";
import {accountRow, slotRow} from "../../../../support/pulled/pulledRows.ts";
import {makeTemporaryFolder} from "../../../../support/temporaryFolder.ts";

const root = makeTemporaryFolder();

function write(format: FormatName, table: Table, rows: readonly AnyRow[]): {path: string; bytes: Buffer} {
  const path = join(root, `${table.name}.${format}`);
  const chunks: Buffer[] = [];
  const encoder = FORMATS[format].createEncoder(table, bytes => chunks.push(Buffer.from(bytes)));
  for (const row of rows) encoder.add(row);
  encoder.end();
  const bytes = Buffer.concat(chunks);
  writeFileSync(path, bytes);
  return {path, bytes};
}

async function read(format: FormatName, table: Table, path: string): Promise<AnyRow[]> {
  const rows: AnyRow[] = [];
  for await (const some of FORMATS[format].readRows(path, table)) rows.push(...some);
  return rows;
}

const bytes = (length: number) => fc.uint8Array({minLength: length, maxLength: length});
const VALUES: Readonly<Record<ColumnKind, fc.Arbitrary<ColumnValue>>> = {
  index: fc.oneof(fc.nat(5), fc.constant(2 ** 40 - 1), fc.constant(2 ** 48 - 1)),
  count: fc.oneof(fc.bigInt({min: 0n, max: 3n}), fc.constant(2n ** 53n + 1n), fc.constant(2n ** 64n - 1n)),
  amount: fc.oneof(
    fc.bigInt({min: 0n, max: 2n ** 256n - 1n}),
    ...[0n, 2n ** 53n + 1n, 10n ** 38n - 1n, 10n ** 38n, 2n ** 256n - 1n].map(n => fc.constant(n)),
  ),
  word: fc.oneof(fc.constant(0n), fc.bigInt({min: 0n, max: 2n ** 256n - 1n})),
  address: bytes(20),
  hash: bytes(32),
  bytes: fc.uint8Array({maxLength: 3000}),
};

function rowsOf({columns}: Table): fc.Arbitrary<AnyRow[]> {
  const fields = columns.map(({key, kind, isOptional}) => [
    key,
    isOptional ? fc.option(VALUES[kind], {nil: undefined}) : VALUES[kind],
  ]);
  return fc.array(fc.record(Object.fromEntries(fields), {noNullPrototype: true}) as fc.Arbitrary<AnyRow>, {
    minLength: 1,
    maxLength: 20,
  });
}

for (const format of FORMAT_NAMES)
  test(`rows of every table come back from ${format} as they were, to the last bit`, async () => {
    for (const name of TABLE_NAMES)
      await fc.assert(
        fc.asyncProperty(rowsOf(TABLES[name]), async rows => {
          const {path, bytes} = write(format, TABLES[name], rows);
          assert.deepEqual(await read(format, TABLES[name], path), rows);
          assert.deepEqual(write(format, TABLES[name], rows).bytes, bytes);
        }),
        {numRuns: 12},
      );
  });

test("a Parquet file of many rows has several groups, which are read one after the other", async () => {
  const rows = Array.from({length: 20_000}, (_, at) => slotRow(7, at));
  const {path} = write("parquet", TABLES.slots, rows);
  const sizes: number[] = [];
  let at = 0;
  for await (const some of FORMATS.parquet.readRows(path, TABLES.slots)) {
    sizes.push(some.length);
    assert.deepEqual(some[0], rows[at]);
    at += some.length;
  }
  assert.deepEqual(sizes, [8192, 8192, 3616]);
});

test("a balance that does not fit DECIMAL(38) stands in a column of its own, as other readers see it", async () => {
  const balances = [0n, 10n ** 38n - 1n, 10n ** 38n, 2n ** 127n, 2n ** 256n - 1n];
  const rows = balances.map((balance, at) => ({...accountRow(at + 2), balance}));
  const {bytes} = write("parquet", TABLES.accounts, rows);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const held = await parquetReadObjects({file, columns: ["balance", "balance_large"], utf8: false});
  const isThere = (value: unknown) => value !== undefined && value !== null;
  assert.deepEqual(
    held.map(({balance, balance_large}) => [isThere(balance), isThere(balance_large)]),
    balances.map(balance => [balance < 10n ** 38n, balance >= 10n ** 38n]),
  );
});

test("a Parquet page that says that it has more values than its group is refused before they are made", async () => {
  const rows = Array.from({length: 60}, (_, at) => ({...accountRow(3), leafIndex: at + 2}));
  const {path, bytes} = write("parquet", TABLES.accounts, rows);
  // The levels of the storage roots, of which there are none: 60 times 0. The longest number of two bytes.
  const at = bytes.indexOf(Buffer.of(2 * 60, 0));
  assert.ok(at > 0);
  bytes[at] = 0xfe;
  bytes[at + 1] = 0x7f;
  writeFileSync(path, bytes);
  await assert.rejects(read("parquet", TABLES.accounts, path), /expected at most 60 in a page, got 8191$/);
});

test("a value that its column does not hold is refused before it is written, by the column's name", () => {
  for (const format of FORMAT_NAMES)
    for (const [wrong, message] of [
      [{leafIndex: 2 ** 48}, /^leaf_index: expected a whole number below 2\^48, got 281474976710656$/],
      [{codeSize: 2n ** 64n}, /^code_size: expected decimal digits of a number below 2\^64/],
      [{balance: 2n ** 256n}, /^balance: /],
      [{balance: -1n}, /^balance: /],
      [{nonce: undefined}, /^nonce: /],
      [{address: new Uint8Array(19)}, /^address: /],
    ] as const)
      assert.throws(
        () => FORMATS[format].createEncoder(TABLES.accounts, () => {}).add({...accountRow(4), ...wrong}),
        (error: Error) => error instanceof RangeError && message.test(error.message),
        `${format} ${message}`,
      );
});

test("text that no pull writes is refused by file, row and column", async () => {
  const rows = [2, 4].map(accountRow);
  const cases: readonly [FormatName, string | RegExp, string, RegExp][] = [
    ["ndjson", '"nonce":"4"', '"nonce":4', /, row 2, nonce: expected decimal digits/],
    ["ndjson", '"leaf_index":4', '"leaf_index":4.5', /, row 2, leaf_index: expected a whole/],
    ["ndjson", '"nonce":"2",', "", /, row 1, nonce: expected a value, got none$/],
    ["ndjson", '"nonce":"2"', '"nonce":"2","more":1', /, row 1: expected no column "more"$/],
    ["ndjson", "{", "[", /, row 1: expected a JSON object$/],
    ["ndjson", /\n$/, "", /, line 2: the file ends in the middle of it$/],
    ["ndjson", /$/, "x".repeat(9 << 20), /, line 3: expected at most \d+ bytes, got more$/],
    ["csv", "nonce,", "", /: expected the columns leaf_index,.*nonce/],
    ["csv", /\r\n$/, ",\r\n", /, row 2: expected 8 cells and the end of a line, got 9$/],
    ["csv", /\r\n$/, "\n", /, row 2: expected 8 cells/],
    ["csv", "\r\n2,", '\r\n"2",', /, row 1, leaf_index: /],
    ["csv", "\r\n2,", "\r\n,", /, row 1, leaf_index: expected a value, got none$/],
    ["csv", /[\s\S]*/, "", /: expected a line with the columns' names, got none$/],
    ["parquet", /[\s\S]{9}$/, "", /parquet/],
    ["parquet", /nonce/g, "nonzz", /: expected the columns root 9, leaf_index INT64 REQUIRED, .*/],
    ["parquet", /[\s\S]*/, "PAR1", /: expected metadata/],
  ];
  for (const [format, from, to, message] of cases) {
    const {path} = write(format, TABLES.accounts, rows);
    writeFileSync(path, readFileSync(path, "latin1").replace(from, to), "latin1");
    await assert.rejects(read(format, TABLES.accounts, path), (error: Error) => {
      assert.ok(error instanceof PulledError && error.code === "DAMAGED", error.stack);
      assert.ok(error.message.startsWith(path));
      assert.match(error.message, message);
      return true;
    });
  }
});
