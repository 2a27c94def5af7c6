import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {StoreError} from "../../../../storage/errors.ts";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {EMPTY_TRIE, TrieReader, TrieWriter} from "../../../../storage/trie/trie.ts";
import {readTriePage, TRIE_ROOT} from "../../../../storage/trie/triePage.ts";
import {MAX_PATH_BYTES, TriePath} from "../../../../storage/trie/triePath.ts";
import {propertyRuns} from "../../../support/soak.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

const PATH = keccak256(Uint8Array.of(1));
const VALUE = new Uint8Array(110).fill(7);

function createPath(pages: MemoryPages): TriePath {
  return new TriePath(new TrieReader(pages), new Uint8Array(MAX_PATH_BYTES));
}

/** PATH, and a path that leaves it at each nibble. */
function makeDeepTrie(): {pages: MemoryPages; page: number} {
  const paths = [PATH];
  for (let nibble = 0; nibble < 64; nibble++) {
    const other = new Uint8Array(PATH);
    other[nibble >> 1] = (other[nibble >> 1] as number) ^ (nibble % 2 === 0 ? 0x10 : 0x01);
    paths.push(other);
  }
  const pages = new MemoryPages();
  const writes = paths.map(path => ({path, value: VALUE}));
  const {page} = new TrieWriter(pages).update(EMPTY_TRIE, writes, "slots");
  return {pages, page};
}

test("a path has a branch for each of its nibbles and a leaf, at most", () => {
  const {pages, page} = makeDeepTrie();
  const path = createPath(pages);
  assert.deepEqual(path.open(page, PATH, "slots"), VALUE);
  assert.equal(path.count, 65);
  assert.equal(path.open(EMPTY_TRIE.page, PATH, "slots"), undefined);
  assert.equal(path.count, 0);
});

test("a page is found by a number of each length", () => {
  for (let bytes = 1; bytes <= 6; bytes++) {
    // The first ones are the last that are shorter.
    let next = 256 ** (bytes - 1) - 3;
    const pages = new Map<number, Buffer>();
    const store = {
      read: (page: number) => pages.get(page) as Buffer,
      findNode: () => undefined,
      putNode: assert.fail,
      putPage: (encode: (spare: number) => Buffer) => {
        next += next <= 0 ? 4 : 1;
        pages.set(next, encode(0));
        return next;
      },
    };
    const paths = Array.from({length: 100}, (_, i) => keccak256(Uint8Array.of(i)));
    const writes = paths.map(path => ({path, value: VALUE}));
    const trie = new TrieWriter(store).update(EMPTY_TRIE, writes, "slots");
    const reader = new TrieReader(store);
    for (const path of paths) assert.deepEqual(reader.find(trie.page, path, "slots"), VALUE);
    const {children} = readTriePage(trie.page, pages.get(trie.page) as Buffer, TRIE_ROOT.path);
    assert.ok(children.length > 3);
    for (const child of children) assert.ok(pages.has(child.page), `page ${child.page}`);
  }
});

test("a child of a kind that no child has is damage: a number of no or seven bytes, no or five leaves, an unknown bit", () => {
  const {pages, page} = makeDeepTrie();
  const body = pages.read(page);
  const child = body.indexOf(Buffer.of(0x91, page - 1));
  const rest = body.subarray(child + 2);
  for (const kind of [0x97, 0x90, 0x80, 0x15, 0x31, 0x21, 0xd1, 0xff]) {
    const number = Buffer.alloc(kind & 0x80 ? kind & 0x0f : 0, 1);
    pages.replace(page, Buffer.concat([body.subarray(0, child), Buffer.of(kind), number, rest]));
    assert.throws(() => createPath(pages).open(page, PATH, "slots"), {code: "RECORD_DAMAGED"}, `${kind}`);
    assert.throws(
      () => readTriePage(page, pages.read(page), TRIE_ROOT.path),
      {code: "RECORD_DAMAGED"},
      `${kind}`,
    );
  }
});

/** An answer is one too: some bytes are another page. */
function requireNamedPage(run: () => void): void {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof StoreError && /^RECORD_(DAMAGED|MISSING)$/.test(error.code), `${error}`);
    assert.match(error.message, /^page \d+(: | is not in the store$)/);
  }
}

test("whatever bytes are a page, reading, proving and writing end with an answer or an error that names a page", () => {
  const {pages, page} = makeDeepTrie();
  const wholes = Array.from({length: page}, (_, i) => pages.read(i + 1));
  const change = fc.record({at: fc.double({min: 0, max: 1, noNaN: true}), byte: fc.nat(255), cut: fc.nat(9)});
  fc.assert(
    fc.property(
      fc.integer({min: 1, max: page}),
      fc.array(change, {minLength: 1, maxLength: 3}),
      (which, changes) => {
        let body = Buffer.from(wholes[which - 1] as Buffer);
        for (const {at, byte, cut} of changes) {
          body[Math.floor(at * body.length)] = byte;
          if (cut === 0) body = body.subarray(0, Math.floor(at * body.length));
        }
        pages.replace(which, body);
        const remove = [{path: PATH, value: undefined}];
        try {
          for (const run of [
            () => createPath(pages).open(page, PATH, "slots"),
            () => createPath(pages).open(page, PATH, "accounts"),
            () => new TrieWriter(pages).update({...EMPTY_TRIE, page}, remove, "slots"),
          ])
            requireNamedPage(run);
        } finally {
          pages.replace(which, wholes[which - 1] as Buffer);
        }
      },
    ),
    {numRuns: propertyRuns(300)},
  );
});

test("a value that no leaf has is refused", () => {
  const writer = new TrieWriter(new MemoryPages());
  for (const bytes of [0, 145])
    assert.throws(() => writer.update(EMPTY_TRIE, [{path: PATH, value: new Uint8Array(bytes)}], "slots"), {
      message: `expected a value of 1 to 144 bytes, got ${bytes}`,
    });
});
