/** Differences are made by the trie's pages, and read without them. test/property/tries.test.ts reads every version through them. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {chooseForm, type OpenPage, openRecordedPage} from "../../../../storage/page/pageDifference.ts";
import {EMPTY_TRIE, type TrieRoot, TrieWriter} from "../../../../storage/trie/trie.ts";
import {TrieModule} from "../../../../storage/trie/trieModule.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

const DIFFERENCE = 0x2b;
const VALUE = 0xe7;
const MODULE = new TrieModule({});

/** A page of 16 children with some leaf each, and its record after one more write. */
function recordOf(value: Uint8Array | undefined, path = pathOf(5)): {record: number; page: number} {
  const pages = new MemoryPages();
  const writer = new TrieWriter(pages);
  const writes = Array.from({length: 16}, (_, i) => ({
    path: pathOf(i),
    value: new Uint8Array(30).fill(i + 1),
  }));
  const before = writer.update(EMPTY_TRIE, writes, "slots");
  const after = writer.update(before, [{path, value}], "slots");
  return {record: pages.recordOf(after.page).length, page: pages.read(after.page).length};
}

function pathOf(i: number): Uint8Array {
  const path = keccak256(Uint8Array.of(i));
  path[0] = 0x10 * i;
  return path;
}

test("a page is its own record, or its difference to one or two others, which are older", () => {
  const pages = new MemoryPages();
  const writer = new TrieWriter(pages);
  const forms = new Set<string>();
  let trie: TrieRoot = EMPTY_TRIE;
  for (let block = 0; block < 200; block++) {
    const path = pathOf((block * 7) % 16);
    trie = writer.update(trie, [{path, value: Uint8Array.of(1 + (block % 100), block % 3)}], "slots");
    const form: OpenPage[] = [pages.open(trie.page)];
    for (let {base} = form[0] as OpenPage; base !== 0; base = (form.at(-1) as OpenPage).base)
      form.push(pages.open(base));
    forms.add(
      form.map(({base, isAnchor}) => (base === 0 ? "whole" : isAnchor ? "anchor" : "difference")).join(),
    );
  }
  assert.deepEqual([...forms].sort(), [
    "anchor,whole",
    "difference,anchor,whole",
    "difference,whole",
    "whole",
  ]);
});

test("a value that got longer or shorter, a leaf that was put in and one that was taken out make short records", () => {
  const beside = pathOf(5).fill(0xee, 1);
  for (const [value, path, most] of [
    [new Uint8Array(30).fill(0xaa), undefined, 80],
    [new Uint8Array(36).fill(0xaa), undefined, 90],
    [new Uint8Array(20).fill(0xaa), undefined, 70],
    [new Uint8Array(30).fill(0xaa), beside, 115],
    [undefined, pathOf(5), 20],
  ] as const) {
    const {record, page} = recordOf(value, path);
    assert.ok(record <= most && page > 1000, `${record} of ${page} bytes`);
  }
});

const FIRST_PAGE = Uint8Array.of(DIFFERENCE, 1);

/** The root page of 16 leaves, whose paths have the same first nibbles. */
function pageOf(...first: readonly number[]): Buffer {
  const pages = new MemoryPages();
  const writes = Array.from({length: 16}, (_, i) => {
    const path = new Uint8Array(32).fill(i + 1);
    path.set([...first, (0x11 * i) & (first.length > 0 ? 0xff : 0xf0)]);
    return {path, value: new Uint8Array(30).fill(VALUE)};
  });
  return pages.read(new TrieWriter(pages).update(EMPTY_TRIE, writes, "slots").page);
}

/** @returns the steps between the pages, at most so many bytes */
function differ(base: Uint8Array, page: Uint8Array, most = page.length): Uint8Array | undefined {
  const {wasm, memory} = MODULE;
  memory.set(base, wasm.baseAt.value);
  memory.set(page, wasm.entriesAt.value);
  const length = wasm.differ(base.length, wasm.entriesAt.value, most);
  return length < 0 ? undefined : memory.slice(wasm.stepsAt.value, wasm.stepsAt.value + length);
}

test("changed bytes anywhere are a difference, of no more bytes than it may have", () => {
  const base = pageOf(0);
  const values = [...base.keys()].filter(at => base[at] === VALUE);
  const require = (changed: readonly number[], most?: number): boolean => {
    const page = Buffer.from(base);
    for (const at of changed) page[at] = 0;
    const steps = differ(base, page, most);
    if (steps === undefined) return false;
    assert.ok(steps.length <= (most ?? page.length));
    const record = Buffer.concat([FIRST_PAGE, steps]);
    assert.ok(openRecordedPage(2, record, () => ({body: base, base: 0, isAnchor: false})).body.equals(page));
    return true;
  };
  for (const at of values) assert.ok(require([at]), `byte ${at}`);
  // A long step in an early child, and a short one in the last.
  const some = [...values.slice(30, 60), values.at(-1) as number];
  const fits = Array.from({length: 100}, (_, most) => require(some, most));
  assert.deepEqual([fits[30], fits[99]], [false, true]);
});

test("pages at other paths or branches, and bytes that are no page, have no difference", () => {
  const base = pageOf(0);
  assert.notEqual(differ(base, base), undefined);
  for (const page of [pageOf(1), pageOf(), pageOf(0, 0), pageOf(0, 0, 0)]) {
    assert.equal(differ(base, page), undefined);
    assert.equal(differ(page, base), undefined);
  }
  const cut = base.subarray(0, -1);
  assert.equal(differ(cut, base), undefined);
});

test("a difference to a page that is not older, or that does not fit it, is damage", () => {
  const base = Buffer.alloc(10);
  const open = (): OpenPage => ({body: base, base: 0, isAnchor: false});
  for (const [record, message] of [
    [Buffer.from("2b00", "hex"), /^page 7: it is a difference to page 7, which is not an older page/],
    [Buffer.from("2b07", "hex"), /^page 7: it is a difference to page 0, which is not an older page/],
    [Buffer.from("2b", "hex"), /^page 7: it is a difference to page NaN, which is not an older page/],
    [Buffer.from("2b06090201", "hex"), undefined],
    [Buffer.from("2b060a0201", "hex"), /^page 7: its difference does not fit its base/],
    [Buffer.from("2b06000401", "hex"), /^page 7: its difference does not fit its base/],
    [Buffer.from("2b0609", "hex"), /^page 7: its difference does not fit its base/],
  ] as const) {
    const run = () => openRecordedPage(7, record, open);
    if (message === undefined) assert.equal(run().body[9], 1);
    else assert.throws(run, {code: "RECORD_DAMAGED", message});
  }
});

test("a base is named however far back it is", () => {
  const base = Buffer.alloc(10);
  for (const back of [1, 127, 128, 2 ** 32 + 5, 2 ** 47]) {
    const page = back + 3;
    const replaced = {page: 3, differ: () => Uint8Array.of(9, 2, 1)};
    const {record} = chooseForm(() => ({body: base, base: 0, isAnchor: false}), page, replaced, base, 0);
    const opened = openRecordedPage(page, record as Buffer, number => {
      assert.equal(number, 3);
      return {body: base, base: 0, isAnchor: false};
    });
    assert.equal(opened.base, 3);
    assert.equal(opened.body[9], 1);
  }
});
