import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {chooseForm, type OpenPage, openRecordedPage} from "../../../../storage/page/pageDifference.ts";
import {propertyRuns} from "../../../support/soak.ts";

/** Bytes are put in, taken out or replaced at some place. */
const edit = fc.record({
  at: fc.double({min: 0, max: 1, noNaN: true}),
  cut: fc.nat(60),
  put: fc.uint8Array({maxLength: 60}),
});
const versions = fc.array(fc.array(edit, {maxLength: 3}), {maxLength: 30});

function change(page: Buffer, edits: readonly {at: number; cut: number; put: Uint8Array}[]): Buffer {
  return edits.reduce((body, {at, cut, put}) => {
    const from = Math.floor(at * body.length);
    return Buffer.concat([body.subarray(0, from), put, body.subarray(from + cut)]);
  }, page);
}

test("a page is the same again from its record and at most two others, which are older", () => {
  fc.assert(
    fc.property(fc.uint8Array({minLength: 1, maxLength: 1200}), versions, (first, later) => {
      // No kind of a difference.
      let body = Buffer.from([0, ...first]);
      const records: Buffer[] = [Buffer.alloc(0), body];
      const open = (page: number): OpenPage => openRecordedPage(page, records[page] as Buffer, open);
      for (const edits of later) {
        const page = records.length;
        body = Buffer.concat([Buffer.of(0), change(body.subarray(1), edits)]);
        const {record = body, base, isAnchor} = chooseForm(open, page - 1, body);
        records.push(record);
        const opened = open(page);
        assert.deepEqual([opened.body, opened.base, opened.isAnchor], [body, base, isAnchor]);
        let others = 0;
        for (let older = page; open(older).base !== 0; others++) {
          assert.ok(open(older).base < older);
          older = open(older).base;
        }
        assert.ok(others <= 2);
      }
    }),
    {numRuns: propertyRuns(100)},
  );
});

test("a changed number that got longer, and a leaf that was put in, make short records", () => {
  const page = Buffer.from(Array.from({length: 1000}, (_, i) => (i * i * 7 + (i >> 3)) & 0x7f));
  const open = (): OpenPage => ({body: page, base: 0, isAnchor: false});
  const longer = Buffer.concat([page.subarray(0, 300), Buffer.alloc(12, 0xee), page.subarray(310)]);
  assert.ok((chooseForm(open, 1, longer).record as Buffer).length < 40);
  const more = Buffer.concat([page.subarray(0, 300), Buffer.alloc(80, 0xee), page.subarray(300)]);
  assert.ok((chooseForm(open, 1, more).record as Buffer).length < 100);
});

test("a difference to a page that is not older, or that does not fit it, is damage", () => {
  const base = Buffer.alloc(10);
  const open = (): OpenPage => ({body: base, base: 0, isAnchor: false});
  for (const [record, message] of [
    [Buffer.from("2b000000000007", "hex"), /^page 7: it is a difference to page 7/],
    [Buffer.from("2b", "hex"), /^page 7: it is a difference to page 0/],
    [Buffer.from("2b000000000001090201", "hex"), undefined],
    [Buffer.from("2b0000000000010a0201", "hex"), /^page 7: its difference does not fit its base/],
    [Buffer.from("2b000000000001000401", "hex"), /^page 7: its difference does not fit its base/],
  ] as const) {
    const run = () => openRecordedPage(7, record, open);
    if (message === undefined) assert.equal(run().body[9], 1);
    else assert.throws(run, {code: "RECORD_DAMAGED", message});
  }
});
