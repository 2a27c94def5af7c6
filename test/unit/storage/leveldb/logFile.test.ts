/** LevelDB's log format, read as LevelDB writes it; a torn end is told from damage. */
import assert from "node:assert/strict";
import {readdir, readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {before, test} from "node:test";
import {Level} from "level";
import {crc32c, crc32cPrefix, unmaskCrc} from "../../../../storage/leveldb/crc32c.ts";
import {LOG_BLOCK_BYTES, type LogContents, readLog} from "../../../../storage/leveldb/logFile.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

/** Values of a log: small ones, one that ends 3 bytes before its block does, and some of several blocks. */
const VALUE_BYTES = [10, 300, 0, 32_000, 70_000, 5, 5, 100_000, 12, 40];

const folder = makeTemporaryFolder();
/** A log as LevelDB writes it, one record for each value. */
let log: Buffer;
/** Where each record ends. */
const ends: number[] = [];
before(async () => {
  const directory = join(folder, "db");
  const db = new Level<string, Buffer>(directory, {valueEncoding: "buffer", compression: false});
  await db.open();
  const name = (await readdir(directory)).find(file => file.endsWith(".log")) as string;
  for (const [i, bytes] of VALUE_BYTES.entries()) {
    await db.put(`key ${i}`, Buffer.alloc(bytes, i + 1), {sync: true});
    ends.push((await readFile(join(directory, name))).length);
  }
  await db.close();
  log = await readFile(join(directory, name));
});

/** The masked form that LevelDB stores. */
function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

async function read(bytes: Buffer): Promise<LogContents> {
  const path = join(folder, "changed.log");
  await writeFile(path, bytes);
  return readLog(path);
}

/** Complete records that end at or before `size`. */
function recordsUpTo(size: number): number {
  return ends.filter(end => end <= size).length;
}

test("the checksum is CRC-32C, and masking is undone", () => {
  // RFC 3720, B.4
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
  assert.equal(crc32cPrefix(Buffer.from("123456789 and more"), 0xe3069283), 9);
  assert.equal(crc32cPrefix(Buffer.from("12345678"), 0xe3069283), undefined);
  for (const crc of [0, 1, 0x8a9136aa, 0xffffffff]) assert.equal(unmaskCrc(maskCrc(crc)), crc);
  assert.notEqual(maskCrc(0x8a9136aa), 0x8a9136aa);
});

test("every record of a log that LevelDB wrote is read", async () => {
  const records: Buffer[] = [];
  const path = join(folder, "whole.log");
  await writeFile(path, log);
  const {damage, torn, end} = await readLog(path, record => void records.push(record));
  assert.deepEqual([damage, torn, end], [undefined, undefined, log.length]);
  assert.equal(records.length, VALUE_BYTES.length);
  for (const [i, bytes] of VALUE_BYTES.entries()) {
    const value = Buffer.alloc(bytes, i + 1);
    assert.ok(
      (records[i] as Buffer)
        .subarray(-bytes || undefined)
        .equals(bytes === 0 ? (records[i] as Buffer) : value),
      `record ${i}`,
    );
  }
});

test("a log that ends anywhere is whole or torn, and keeps what is complete", async () => {
  const places = new Set([0, 1, 6, 7, 8]);
  for (const end of ends) for (const by of [-8, -7, -1, 0, 1, 6, 7, 8]) places.add(end + by);
  for (let block = LOG_BLOCK_BYTES; block < log.length; block += LOG_BLOCK_BYTES)
    for (const by of [-7, -3, 0, 3, 7, 500]) places.add(block + by);
  for (const place of places) {
    if (place < 0 || place > log.length) continue;
    const {damage, records, torn} = await read(log.subarray(0, place));
    assert.equal(damage, undefined, `cut at ${place}`);
    assert.equal(records, recordsUpTo(place), `cut at ${place}`);
    if (ends.includes(place)) assert.equal(torn, undefined, `cut at ${place}`);
  }
});

test("zeros after the end, and sectors of the last record that were never written, are no damage", async () => {
  const zeros = await read(Buffer.concat([log, Buffer.alloc(100_000)]));
  assert.deepEqual([zeros.damage, zeros.records], [undefined, VALUE_BYTES.length]);
  // The record of 100 000 bytes is the last one here.
  const end = ends[7] as number;
  const start = ends[6] as number;
  for (const from of [start, Math.ceil(start / 512) * 512, 40 * 4096, 45 * 4096]) {
    const holed = Buffer.from(log.subarray(0, end)).fill(0, from, Math.min(end, from + 8192));
    const {damage, records, end: tornAt} = await read(holed);
    assert.deepEqual([damage, records, tornAt], [undefined, 7, start], `zeros from ${from}`);
    const followed = await read(Buffer.concat([holed, log.subarray(end)]));
    assert.match(followed.damage?.what ?? "", /^zeros .*, although records follow$/, `zeros from ${from}`);
  }
});

test("a bit flipped anywhere in a piece is damage, named by the piece's place", async () => {
  const headers: number[] = [];
  for (let at = 0; at < log.length; ) {
    if (LOG_BLOCK_BYTES - (at % LOG_BLOCK_BYTES) < 7) {
      at = Math.ceil(at / LOG_BLOCK_BYTES) * LOG_BLOCK_BYTES;
      continue;
    }
    headers.push(at);
    at += 7 + log.readUInt16LE(at + 4);
  }
  for (const [i, header] of headers.entries()) {
    const next = headers[i + 1] ?? log.length;
    for (const at of [0, 3, 4, 5, 6, 7, Math.floor((next - header) / 2), next - header - 8]) {
      if (at < 0) continue;
      for (const bit of [0, 3, 7]) {
        const flipped = Buffer.from(log);
        flipped[header + at] = (flipped[header + at] as number) ^ (1 << bit);
        const {damage} = await read(flipped);
        assert.equal(damage?.offset, header, `bit ${bit} of byte ${header + at}: ${damage?.what}`);
      }
    }
  }
});

/** One piece with the right checksum. */
function piece(type: number, bytes: Buffer): Buffer {
  const header = Buffer.alloc(7);
  header.writeUInt32LE(maskCrc(crc32c(Buffer.concat([Buffer.from([type]), bytes]))), 0);
  header.writeUInt16LE(bytes.length, 4);
  header[6] = type;
  return Buffer.concat([header, bytes]);
}

test("whole pieces that LevelDB would not write in this order are damage", async () => {
  const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4];
  const bytes = Buffer.from("0123456789");
  const whole = await read(Buffer.concat([FULL, FIRST, MIDDLE, LAST, FULL].map(type => piece(type, bytes))));
  assert.deepEqual([whole.damage, whole.records], [undefined, 3]);
  for (const [types, offset, what] of [
    [[FULL, LAST], 17, /^a piece of a record without its beginning$/],
    [[FULL, MIDDLE, LAST], 17, /^a piece of a record without its beginning$/],
    [[FULL, FIRST, FULL], 17, /^a record without an end: the next one begins at byte 34$/],
    [[FIRST, FIRST, LAST], 0, /^a record without an end: the next one begins at byte 17$/],
    [[FULL, 5], 17, /^a piece of the unknown type 5$/],
  ] as const) {
    const {damage} = await read(Buffer.concat(types.map(type => piece(type, bytes))));
    assert.equal(damage?.offset, offset);
    assert.match(damage.what, what);
  }
});
