/** Which pages a reader keeps: told by taking them out of LevelDB behind its back. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Level} from "level";
import {Pages} from "../../../../storage/cache/pages.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {DIRECTORY} from "../../../../storage/page/indexPage.ts";
import {INNER_PAGE, withAllRows} from "../../../../storage/page/innerPage.ts";
import {LEAF_PAGE} from "../../../../storage/page/leafPage.ts";
import {pageKey} from "../../../../storage/record/layout.ts";
import {sealRecord} from "../../../../storage/record/record.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

/** The first byte of a branch page of a trie (storage/trie/triePage.ts). */
const TRIE_PAGE = 0x54;

const db = new Level<Buffer, Buffer>(makeTemporaryFolder(), {keyEncoding: "buffer", valueEncoding: "buffer"});

before(async () => {
  await db.open();
  await put(ANOTHER_PAGE, Buffer.of(DIRECTORY));
});
after(() => db.close());

/** Read in between: the page read last is at hand in any case. */
const ANOTHER_PAGE = 1 << 20;

function put(page: number, body: Uint8Array): Promise<void> {
  const key = pageKey(page);
  return db.put(key, sealRecord(key, body));
}

/** Writes a page of a trie, and one that is its difference. */
async function putDifference(base: number, difference: number): Promise<void> {
  await put(base, Buffer.alloc(1000, 0xff).fill(TRIE_PAGE, 0, 1));
  await put(difference, Buffer.of(0x2b, 1, 127, 2, 7));
}

/** A page of so many bytes after its kind; read as often as said, and then taken away. @returns whether it can be read */
async function isKept(
  pages: Pages,
  page: number,
  kind: number,
  reads: number,
  bytes = 100,
): Promise<boolean> {
  const body = Buffer.alloc(1 + bytes, page);
  body[0] = kind;
  await put(page, body);
  for (let i = 0; i < reads; i++) {
    assert.deepEqual(pages.read(page), body);
    pages.read(ANOTHER_PAGE);
  }
  await db.del(pageKey(page));
  try {
    assert.deepEqual(pages.read(page), body);
    return true;
  } catch (error) {
    assert.equal((error as {code?: string}).code, "RECORD_MISSING");
    return false;
  }
}

test("a page that nothing wrote is missing, also for a reader that has read none", async () => {
  for (const page of [0, 1])
    assert.throws(() => new Pages(db, 1 << 20, undefined).read(page), {code: "RECORD_MISSING"});
});

test("a directory is kept when it is read, an inner page when it is asked for again", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  assert.equal(await isKept(pages, 1, INNER_PAGE, 1), false);
  assert.equal(await isKept(pages, 12, INNER_PAGE, 2), true);
  assert.equal(await isKept(pages, 2, DIRECTORY, 1), true);
});

test("an inner page that others are a difference to is kept when one of them is read, but not at level 1", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  for (const [base, level] of [
    [900, 1],
    [910, 2],
  ] as const) {
    await put(base, Buffer.alloc(1000, 0xff).fill(Buffer.of(INNER_PAGE, level), 0, 2));
    await put(base + 1, Buffer.of(0x2b, 1, 127, 2, 7));
    pages.read(base + 1);
    assert.equal(countKept(pages, [base]), level - 1);
  }
});

test("an inner page has all rows once it is cached, above level 1 once it was found there twice, but not for its writer", async () => {
  for (const level of [1, 2]) {
    const pages = new Pages(db, 1 << 20, sha256Suite);
    const stored = Buffer.alloc(3 + 6 + 2 * 32 + 32, 5).fill(Buffer.of(INNER_PAGE, level, 1), 0, 3);
    await put(920 + level, stored);
    const all = withAllRows(stored, sha256Suite, emptyTree(sha256Suite).zeros);
    for (let reads = 0; reads < 5; reads++) {
      assert.deepEqual(
        pages.read(920 + level),
        reads > level ? all : stored,
        `level ${level}, read ${reads}`,
      );
      pages.read(ANOTHER_PAGE);
    }
    assert.deepEqual(pages.open(920 + level).body, stored);
  }
});

test("an anchor above level 1 takes the memory of its record, and pages made of three records leave their bases as they are", async () => {
  const pages = new Pages(db, 20 << 10, undefined);
  const whole = Buffer.alloc(1000, 0xff).fill(Buffer.of(INNER_PAGE, 2), 0, 2);
  const anchors = Array.from({length: 30}, (_, i) => 1001 + i);
  await put(1000, whole);
  for (const anchor of anchors) {
    await put(anchor, Buffer.of(0x2a, anchor - 1000, 100, 2, 1));
    await put(anchor + 40, Buffer.of(0x2b, 40, 101, 2, 2));
  }
  for (let round = 0; round < 2; round++)
    for (const anchor of anchors) {
      assert.deepEqual(pages.read(anchor + 40), Buffer.from(whole).fill(Buffer.of(1, 2), 100, 102));
      const {based = pages.open(anchor)} = pages.open(anchor + 40);
      assert.deepEqual(based.body, Buffer.from(whole).fill(1, 100, 101));
    }
  assert.equal(countKept(pages, anchors), anchors.length);
  assert.deepEqual(pages.read(1000), whole);
});

test("a leaf page is kept when it is asked for again", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  assert.equal(await isKept(pages, 3, LEAF_PAGE, 1), false);
  assert.equal(await isKept(pages, 4, LEAF_PAGE, 2), true);
});

test("a page of a trie is kept when it is asked for again, near the root too", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  // All of its bytes are 255: its first child is a page.
  assert.equal(await isKept(pages, 255, TRIE_PAGE, 1), false);
  assert.equal(await isKept(pages, 511, TRIE_PAGE, 2), true);
});

test("a kept page made of its difference holds no more memory than it has bytes", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  await putDifference(600, 601);
  for (const page of [601, ANOTHER_PAGE, 601, ANOTHER_PAGE]) pages.read(page);
  await db.del(pageKey(601));
  assert.equal(pages.read(601).buffer.byteLength, 1000);
});

test("a page read twice running is read once, and that is no reason to keep it", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  await put(6, Buffer.of(LEAF_PAGE, 1));
  pages.read(6);
  await db.del(pageKey(6));
  assert.deepEqual(pages.read(6), Buffer.of(LEAF_PAGE, 1));
  pages.read(ANOTHER_PAGE);
  assert.throws(() => pages.read(6), {code: "RECORD_MISSING"});
});

test("a leaf page that another one's place in the memory of what was asked was given to is not", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  const [one, other] = [5, 5 + (1 << 17)];
  for (const page of [one, other]) await put(page, Buffer.of(LEAF_PAGE, 1));
  for (const page of [one, other, one, ANOTHER_PAGE]) pages.read(page);
  await db.del(pageKey(one));
  assert.throws(() => pages.read(one), {code: "RECORD_MISSING"});
});

test("leaf pages do not push directories out, and take a quarter of the cache", async () => {
  const pages = new Pages(db, 16 << 10, undefined);
  assert.equal(await isKept(pages, 10, DIRECTORY, 1), true);
  assert.equal(await isKept(pages, 11, LEAF_PAGE, 2, 1000), true);
  for (let page = 20; page < 40; page++) await isKept(pages, page, LEAF_PAGE, 2, 1000);
  assert.throws(() => pages.read(11), {code: "RECORD_MISSING"});
  assert.equal(pages.read(10)[0], DIRECTORY);
});

/** Writes directories of so many bytes. */
async function putDirectories(numbers: readonly number[], bytes: number): Promise<void> {
  const body = Buffer.alloc(bytes).fill(DIRECTORY, 0, 1);
  await db.batch(
    numbers.map(page => ({type: "put", key: pageKey(page), value: sealRecord(pageKey(page), body)})),
  );
}

/** @returns how many of them were not read from the store. The last one read is at hand in any case */
function countKept(pages: Pages, numbers: readonly number[]): number {
  pages.read(ANOTHER_PAGE);
  pages.takeReads();
  for (const page of numbers) pages.read(page);
  return numbers.length - pages.takeReads().storedPages;
}

test("pages that are asked for again stay, while as many bytes of others as there is room for come and go", async () => {
  const pages = new Pages(db, 400_000, undefined);
  const numbers = Array.from({length: 1000}, (_, i) => 10_000 + i);
  const [asked, others] = [numbers.slice(0, 50), numbers.slice(50)];
  await putDirectories(numbers, 1000);
  for (const page of asked) pages.read(page);
  for (const [i, page] of others.entries()) {
    pages.read(page);
    pages.read(asked[i % asked.length] as number);
  }
  assert.equal(countKept(pages, asked), asked.length);
  assert.equal(countKept(pages, others.slice(0, 500)), 0);
});

test("as many pages are kept as the bytes allow; numbers that are alike in their last bits push out no more than eight", async () => {
  const pages = new Pages(db, 16 << 20, undefined);
  const following = Array.from({length: 5000}, (_, i) => 20_000 + i);
  const alike = Array.from({length: 20}, (_, i) => 2 ** 40 + i * 2 ** 20);
  await putDirectories([...following, ...alike], 10);
  for (const page of following) pages.read(page);
  assert.equal(countKept(pages, following), following.length);
  for (const page of alike) pages.read(page);
  assert.equal(countKept(pages, alike.slice(-1)), 1);
  assert.ok(countKept(pages, following) >= following.length - 8);
});

test("an upper page of a trie that others are a difference to is kept when one of them is read", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  await putDifference(700, 701);
  pages.read(701);
  assert.equal(countKept(pages, [700]), 1);
  assert.equal(countKept(pages, [701]), 0);
});

test("a page of a trie made of three records leaves the kept anchor as it is", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  const whole = Buffer.alloc(5000, 0xff).fill(TRIE_PAGE, 0, 1);
  await put(750, whole);
  await put(751, Buffer.of(0x2a, 1, 100, 2, 1));
  await put(752, Buffer.of(0x2b, 1, 101, 2, 2));
  assert.deepEqual(pages.read(752), Buffer.from(whole).fill(Buffer.of(1, 2), 100, 102));
  assert.deepEqual(pages.read(751), Buffer.from(whole).fill(1, 100, 101));
  assert.equal(countKept(pages, [751]), 1);
});

test("a page whose number is given again is the new one, and one that is forgotten is read from the store", async () => {
  const pages = new Pages(db, 1 << 20, undefined);
  for (const byte of [1, 2])
    pages.keep(800, {body: Buffer.of(INNER_PAGE, byte), base: 0, isAnchor: false, based: undefined});
  assert.deepEqual(pages.read(800), Buffer.of(INNER_PAGE, 2));
  pages.forget(800);
  pages.read(ANOTHER_PAGE);
  assert.throws(() => pages.read(800), {code: "RECORD_MISSING"});
});
