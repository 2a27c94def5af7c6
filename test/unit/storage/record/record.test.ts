/** Records: their keys in order, their checksums, and the numbers that some of them are. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {crc32} from "node:zlib";
import fc from "fast-check";
import {
  blockKey,
  codeKey,
  hashKey,
  hashOfKey,
  isKeyOf,
  MAX_U48,
  META,
  nameOfKey,
  pageKey,
} from "../../../../storage/record/layout.ts";
import {CHECKSUM_BYTES, openRecord, sealRecord} from "../../../../storage/record/record.ts";
import {BodyReader, decodeNumber, encodeNumber} from "../../../../storage/record/recordBody.ts";

const number = fc.oneof(
  fc.nat(300),
  fc.maxSafeNat().map(n => n % 2 ** 48),
  fc.constantFrom(0, MAX_U48),
);
const DAMAGED = {code: "RECORD_DAMAGED"};

test("a sealed record opens to its body, and ends with the CRC-32 of key and body", () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 200}), number, (body, page) => {
      const key = pageKey(page);
      const value = sealRecord(key, body);
      assert.deepEqual([...openRecord(key, value)], [...body]);
      assert.equal(value.readUInt32BE(body.length), crc32(Buffer.concat([key, body])));
    }),
  );
});

test("an empty body without memory is sealed as any, also once V8 has optimized crc32", () => {
  const key = pageKey(7);
  const body = Buffer.from("body");
  for (let times = 0; times < 300_000; times++) sealRecord(key, body);
  const value = sealRecord(key, Buffer.from(new ArrayBuffer(0)));
  assert.equal(openRecord(key, value).length, 0);
});

test("one bit of a record, another key, or a byte less is RECORD_DAMAGED", () => {
  const key = pageKey(7);
  const value = sealRecord(key, Buffer.from("body"));
  for (let bit = 0; bit < 8 * value.length; bit++) {
    const spoiled = Buffer.from(value);
    spoiled[bit >> 3] = (spoiled[bit >> 3] as number) ^ (1 << (bit & 7));
    assert.throws(() => openRecord(key, spoiled), DAMAGED);
  }
  assert.throws(() => openRecord(pageKey(8), value), {...DAMAGED, message: /^page 8: checksum/});
  assert.throws(() => openRecord(key, value.subarray(1)), DAMAGED);
  assert.throws(() => openRecord(key, Buffer.alloc(CHECKSUM_BYTES - 1)), {
    ...DAMAGED,
    message: "page 7: 3 bytes, too short",
  });
});

test("a key says what it is a key of", () => {
  const hash = Buffer.alloc(32, 0xab);
  assert.deepEqual(
    [
      isKeyOf("page", pageKey(1)),
      isKeyOf("page", hashKey(hash)),
      isKeyOf("hash", hashKey(hash)),
      isKeyOf("keys", hashKey(hash)),
    ],
    [true, false, true, false],
  );
  assert.deepEqual(hashOfKey(hashKey(hash)), hash);
  assert.deepEqual(
    [pageKey(1), blockKey(2), hashKey(hash), codeKey(hash), META.floor, Buffer.from("?")].map(nameOfKey),
    [
      "page 1",
      "record of block 2",
      `number of block 0x${"ab".repeat(32)}`,
      `code 0x${"ab".repeat(32)}`,
      "floor record",
      "record 0x3f",
    ],
  );
});

test("a number record is 6 bytes; one of another length, and a flag above 1, are RECORD_DAMAGED", () => {
  fc.assert(fc.property(number, n => assert.equal(decodeNumber(META.floor, encodeNumber(n)), n)));
  assert.deepEqual([...encodeNumber(0x010203040506)], [1, 2, 3, 4, 5, 6]);
  for (const bytes of [0, 5, 7])
    assert.throws(() => decodeNumber(META.floor, Buffer.alloc(bytes)), {
      ...DAMAGED,
      message: new RegExp(`^floor record: expected (at least )?6 bytes, got ${bytes}$`),
    });
  assert.throws(() => new BodyReader("flags", Buffer.of(2)).flag(), DAMAGED);
});
