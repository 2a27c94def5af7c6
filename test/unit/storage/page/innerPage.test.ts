/** Inner pages as differences, and rows that are not stored, against plain counting. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {PairBatch} from "../../../../storage/hash/pairBatch.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {WORD_BYTES} from "../../../../storage/hash/suite.ts";
import {CHILDREN, lowestHeight} from "../../../../storage/page/geometry.ts";
import {
  changedNodes,
  encodeChangedNodes,
  innerRowAt,
  storedPart,
  withAllRows,
} from "../../../../storage/page/innerPage.ts";
import {openRecordedPage} from "../../../../storage/page/pageDifference.ts";
import {InnerPageDraft} from "../../../../storage/page/pageDraft.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";

const LEVEL = 2;
const {zeros} = emptyTree(sha256Suite);

interface Child {
  readonly page: number;
  readonly left: number;
  readonly right: number;
}

const child = fc.record({
  page: fc.integer({min: 1, max: 2 ** 48 - 1}),
  left: fc.nat(255),
  right: fc.nat(255),
});
const children = fc.array(child, {minLength: 1, maxLength: CHILDREN});

function nodeOf({page}: Child, byte: number): Buffer {
  return Buffer.alloc(WORD_BYTES, byte).fill(page % 256, 0, 1);
}

function hash(left: Uint8Array, right: Uint8Array): Buffer {
  const out = Buffer.alloc(WORD_BYTES);
  sha256Suite.hashPairsInto(Buffer.concat([left, right]), 1, out);
  return out;
}

/** The rows of a page from its row 0 up, plainly. */
function rowsOf(list: readonly Child[]): Buffer[][] {
  const rows = [list.flatMap(one => [nodeOf(one, one.left), nodeOf(one, one.right)])];
  for (let height = lowestHeight(LEVEL); rows.length < 4; height++) {
    const below = rows.at(-1) as Buffer[];
    const zero = zeros[height] as Uint8Array;
    rows.push(
      Array.from({length: Math.ceil(below.length / 2)}, (_, i) =>
        hash(below[2 * i] as Buffer, below[2 * i + 1] ?? zero),
      ),
    );
  }
  return rows;
}

/** @param before - the version that it changes: then only changed children are set */
function encode(
  list: readonly Child[],
  before?: {readonly list: readonly Child[]; readonly page: Buffer},
): Buffer {
  const draft = new InnerPageDraft(0, LEVEL, list.length, before?.page);
  const batch = new PairBatch(sha256Suite);
  for (const [position, one] of list.entries()) {
    if (before?.list[position]?.page === one.page) continue;
    draft.setChild(position, one.page, 3);
    draft.nodes.set(nodeOf(one, one.left), draft.at(0, 2 * position));
    draft.nodes.set(nodeOf(one, one.right), draft.at(0, 2 * position + 1));
  }
  for (let row = 1; row < draft.rows; row++) {
    draft.hashRow(row, zeros[lowestHeight(LEVEL) + row - 1] as Uint8Array, batch);
    batch.finish();
  }
  return draft.encode(0);
}

function apply(base: Buffer, steps: Uint8Array): Buffer {
  const record = Buffer.concat([Buffer.of(0x2b, 1), steps]);
  return openRecordedPage(2, record, () => ({body: base, base: 0, isAnchor: false})).body;
}

test("a page stores rows 0 and 2, and the others are made from them", () => {
  fc.assert(
    fc.property(children, list => {
      const page = encode(list);
      const rows = rowsOf(list);
      assert.deepEqual(
        page.subarray(innerRowAt(list.length, 0), innerRowAt(list.length, 2)),
        Buffer.concat(rows[0] as Buffer[]),
      );
      assert.deepEqual(page.subarray(innerRowAt(list.length, 2)), Buffer.concat(rows[2] as Buffer[]));
      const made = withAllRows(page, sha256Suite, zeros);
      assert.deepEqual(
        made.subarray(innerRowAt(list.length, 1)),
        Buffer.concat([1, 3].flatMap(row => rows[row] as Buffer[])),
      );
      assert.deepEqual(storedPart(made), page);
    }),
  );
});

test("a changed page is what a new one with the same children is, and follows from its difference", () => {
  fc.assert(
    fc.property(
      children,
      fc.array(fc.option(child, {nil: undefined}), {maxLength: CHILDREN}),
      fc.integer(),
      (list, changes, more) => {
        const page = encode(list);
        // A page that is written never changes: other nodes are another page, with a higher number.
        const changed = list.map((one, position) => {
          const other = changes[position];
          const young = Math.min(one.page + (other?.page ?? 0), 2 ** 48 - 1);
          return other === undefined || young === one.page ? one : {...other, page: young};
        });
        const young = encode(changed, {list, page});
        assert.deepEqual(young, encode(changed));
        const nodes = changedNodes(page, young);
        const steps = Buffer.from(encodeChangedNodes(nodes, 2000, young) as Uint8Array);
        assert.deepEqual(apply(page, steps), young);
        if (steps.length > 0) assert.equal(encodeChangedNodes(nodes, steps.length - 1, young), undefined);
        assert.deepEqual(apply(page, encodeChangedNodes(nodes | more, 2000, young) as Uint8Array), young);
      },
    ),
  );
});
