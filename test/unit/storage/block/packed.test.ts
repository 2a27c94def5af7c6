/** Packed bytes: zeros and words wherever they are, and the length of each part. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {pack, unpack} from "../../../../storage/block/packed.ts";
import {BodyReader} from "../../../../storage/record/recordBody.ts";
import {EMPTY_ROOT} from "../../../../storage/trie/trie.ts";

const WORD = Buffer.from("0000".padEnd(64, "7"), "hex");

const part = fc.oneof(
  fc.uint8Array({maxLength: 300}),
  fc.nat(200).map(zeros => Buffer.alloc(zeros)),
  fc.constantFrom(EMPTY_ROOT, WORD, WORD.subarray(0, 31)),
);

test("bytes are unpacked as they were", () => {
  fc.assert(
    fc.property(fc.array(part, {maxLength: 8}), parts => {
      const bytes = Buffer.concat(parts);
      const packed = pack(bytes, WORD);
      assert.deepEqual(unpack(new BodyReader("record", packed), WORD), bytes);
      assert.ok(packed.length <= bytes.length + Math.ceil(bytes.length / 128));
    }),
  );
});

test("a run of 3 to 66 zeros, and a word, take one byte, others one more for each 128", () => {
  for (const [text, packed] of [
    ["", ""],
    ["010000", "02010000"],
    ["01000000", "000180"],
    ["00".repeat(66), "bf"],
    ["00".repeat(67), "bf0000"],
    ["05".repeat(129), `7f${"05".repeat(128)}0005`],
    [`09${WORD.toString("hex")}${Buffer.from(EMPTY_ROOT).toString("hex")}`, "0009c3c0"],
  ] as const)
    assert.equal(pack(Buffer.from(text, "hex"), WORD).toString("hex"), packed);
});
