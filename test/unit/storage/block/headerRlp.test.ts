/** A header's RLP and its fields: back to the same bytes, whatever items follow, also after a record of the store. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeBlockRecord, encodeBlockRecord} from "../../../../storage/block/blockRecord.ts";
import {
  decodeHeader,
  encodeHeader,
  HEADER_ITEMS,
  listHeaderItems,
  requireHash,
} from "../../../../storage/block/headerRlp.ts";
import {encodeList, encodeNumber, type RlpItem} from "../../../../storage/rlp/rlpWriter.ts";

const bytes = (length: number) => fc.uint8Array({minLength: length, maxLength: length});
const number = (bits: number) => fc.bigInt(0n, 2n ** BigInt(bits) - 1n).map(encodeNumber);
const u64 = number(64);
const first = fc.tuple(
  ...[bytes(32), bytes(32), bytes(20), bytes(32), bytes(32), bytes(32), bytes(256), number(256)],
  ...[fc.constant(encodeNumber(7n)), u64, u64, u64, fc.uint8Array({maxLength: 120}), bytes(32), bytes(8)],
);
const later = fc.tuple(number(256), fc.oneof(bytes(32), bytes(0)), u64, u64);
const {item} = fc.letrec<{item: RlpItem}>(tie => ({
  item: fc.oneof({depthSize: "small"}, fc.uint8Array({maxLength: 70}), fc.array(tie("item"), {maxLength: 3})),
}));
const header = fc.oneof(
  fc.tuple(first, later, fc.nat(4)).map(([before, after, count]) => [...before, ...after.slice(0, count)]),
  fc
    .tuple(first, later, fc.array(item, {maxLength: 5}))
    .map(([before, ...after]) => [...before, ...after.flat()]),
);

test("a header gives its bytes again, with any items behind those of Ethereum, also from its record", () => {
  fc.assert(
    fc.property(header, items => {
      const rlp = encodeList(items);
      const decoded = decodeHeader(rlp);
      assert.deepEqual(encodeHeader(decoded), rlp);
      requireHash(decoded);
      const accounts = {nextFreeNode: 2, rootPage: 0, indexPage: 0, subRoot: Buffer.alloc(32)};
      const record = {header: decoded, stateRoot: Buffer.alloc(32), accounts, nextPage: 1, trie: undefined};
      assert.deepEqual(encodeHeader(decodeBlockRecord(7, encodeBlockRecord(record)).header), rlp);
    }),
  );
});

test("the items of a header by name give its bytes again, and other items than Ethereum's have no names", () => {
  fc.assert(
    fc.property(header, items => {
      const rlp = encodeList(items);
      const values = listHeaderItems(decodeHeader(rlp));
      if (values === undefined) return assert.ok(items.length > 15 + 4);
      const again = HEADER_ITEMS.slice(0, items.length).map(
        ({name}) => values.get(name) ?? new Uint8Array(0),
      );
      assert.deepEqual(
        encodeList(again.map(value => (typeof value === "bigint" ? encodeNumber(value) : value))),
        rlp,
      );
    }),
  );
  const decoded = decodeHeader(encodeList(fc.sample(header, {numRuns: 1, seed: 1})[0] as RlpItem[]));
  assert.equal(listHeaderItems({...decoded, rest: undefined}), undefined);
  const more = Buffer.concat(Array.from({length: 99}, () => Uint8Array.of(0x80)));
  assert.equal(listHeaderItems({...decoded, rest: Buffer.concat([decoded.rest, more])}), undefined);
});

test("a header that is not the one of its hash is refused, and so is a rest that is no RLP", () => {
  const decoded = decodeHeader(encodeList(fc.sample(header, {numRuns: 1, seed: 1})[0] as RlpItem[]));
  const refuse = (change: object, message: RegExp) =>
    assert.throws(() => requireHash({...decoded, ...change}), {code: "BLOCK_INVALID", message});
  refuse(
    {gasUsed: decoded.gasUsed + 1n},
    /^block 7: expected a header with the hash 0x\w{64}, got one with 0x\w{64}$/,
  );
  refuse({hash: Buffer.alloc(32)}, /expected a header with the hash 0x0+, got/);
  refuse({parentHash: undefined}, /expected a header with/);
  refuse({rest: decoded.rest.subarray(1)}, /^block 7: /);
  refuse({rest: Uint8Array.of(0xb8)}, /^block 7: rest of its header: /);
  requireHash({...decoded, rest: undefined, gasUsed: 0n});
});
