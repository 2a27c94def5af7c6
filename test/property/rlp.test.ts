/** Law: RLP is written as @ethereumjs/rlp writes it, and read back from these bytes only. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {RLP} from "@ethereumjs/rlp";
import fc from "fast-check";
import {RlpError, RlpReader} from "../../storage/rlp/rlpReader.ts";
import {encodeList, encodeNumber, type RlpItem} from "../../storage/rlp/rlpWriter.ts";
import {propertyRuns} from "../support/soak.ts";

/** Lengths around the edges of RLP's forms are as likely as others. */
const bytes = fc.oneof(
  fc.uint8Array({maxLength: 3}),
  fc.uint8Array({minLength: 54, maxLength: 57}),
  fc.uint8Array({minLength: 254, maxLength: 257}),
  fc.integer({min: 65_534, max: 65_537}).map(length => new Uint8Array(length)),
);
const {list} = fc.letrec<{item: RlpItem; list: RlpItem[]}>(tie => ({
  item: fc.oneof({depthSize: "small"}, bytes, tie("list")),
  list: fc.array(tie("item"), {maxLength: 5}),
}));

function readAll(reader: RlpReader): RlpItem[] {
  const items: RlpItem[] = [];
  while (!reader.isDone) items.push(reader.isList ? readAll(reader.readList()) : reader.readBytes());
  return items;
}

function read(encoded: Uint8Array): RlpItem[] {
  const outer = new RlpReader(encoded);
  const items = readAll(outer.readList());
  outer.close();
  return items;
}

test("lists are written as the library writes them, and read back", () => {
  fc.assert(
    fc.property(list, items => {
      const encoded = encodeList(items);
      assert.deepEqual(encoded, RLP.encode(items as Uint8Array[]));
      assert.deepEqual(read(encoded), items);
      const entries = new RlpReader(encoded).readList().readItems();
      const expected = items.map(item =>
        item instanceof Uint8Array ? item : encodeList(item as readonly RlpItem[]),
      );
      assert.deepEqual(entries, expected);
    }),
    {numRuns: propertyRuns(200)},
  );
});

test("what is cut, changed or made up is refused, or is the one form of what it says", () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), {minLength: 1, maxLength: 3});
  const made = fc.oneof(
    fc.uint8Array({maxLength: 300}),
    fc.tuple(list, edits, fc.nat(2)).map(([items, changes, cut]) => {
      const forged = encodeList(items).slice();
      for (const [at, byte] of changes) forged[at % forged.length] = byte;
      return forged.subarray(0, forged.length - cut);
    }),
  );
  fc.assert(
    fc.property(made, forged => {
      let items: RlpItem[];
      try {
        items = read(forged);
      } catch (error) {
        assert.ok(error instanceof RlpError, String((error as Error).stack));
        return;
      }
      assert.deepEqual(encodeList(items), forged);
      assert.deepEqual(RLP.decode(forged), items);
    }),
    {numRuns: propertyRuns(2000)},
  );
});

test("numbers have one form, and no more bytes than they may have", () => {
  fc.assert(
    fc.property(fc.bigInt({min: 0n, max: 2n ** 256n - 1n}), fc.integer({min: 1, max: 32}), (number, most) => {
      const encoded = encodeList([encodeNumber(number), Uint8Array.of(0, 7)]);
      assert.deepEqual(encoded, RLP.encode([number, Uint8Array.of(0, 7)]));
      const fields = new RlpReader(encoded).readList();
      if (encodeNumber(number).length > most) {
        assert.throws(() => fields.readNumber(most), /expected a number of at most/);
        return;
      }
      assert.equal(fields.readNumber(most), number);
      assert.throws(() => fields.readNumberBytes(most), RlpError);
      const word = new Uint8Array(32);
      new RlpReader(encoded).readList().readWordInto(word, 0);
      assert.equal(BigInt(`0x${Buffer.from(word).toString("hex")}`), number);
    }),
    {numRuns: propertyRuns(500)},
  );
});
