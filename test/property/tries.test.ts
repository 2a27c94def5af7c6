/** Tries in pages against @ethereumjs/mpt, which writes one key after the other: every old version is read and proved again. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createMerkleProof, MerklePatriciaTrie} from "@ethereumjs/mpt";
import fc from "fast-check";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {MemoryTries} from "../../storage/trie/memoryTries.ts";
import {EMPTY_TRIE, TrieReader, TrieWriter} from "../../storage/trie/trie.ts";
import {MAX_PATH_BYTES, TriePath} from "../../storage/trie/triePath.ts";
import {childOfExtension} from "../support/reference/ethState.ts";
import {propertyRuns} from "../support/soak.ts";
import {MemoryPages} from "../support/stores/memoryPages.ts";

const KEY_BYTES = 32;
const HASH_BYTES = 32;

/** Keys that share few or many nibbles: their first, middle or last bytes differ. */
const path = fc
  .tuple(fc.constantFrom(0, 1, 16, 31), fc.constantFrom(0, 1, 2, 0x0f, 0x10, 0x1f, 0xf0), fc.nat(3))
  .map(([at, byte, last]) => {
    const bytes = new Uint8Array(KEY_BYTES);
    bytes[at] = byte;
    bytes[KEY_BYTES - 1] = (bytes[KEY_BYTES - 1] as number) + last;
    return bytes;
  });
/** Short values make nodes that stand in their parents. */
const value = fc.option(
  fc
    .tuple(fc.constantFrom(1, 2, 33, 56, 110), fc.integer({min: 1, max: 255}))
    .map(([length, byte]) => new Uint8Array(length).fill(byte)),
  {nil: undefined},
);
/** The same path may come twice. A value may be made of the one before. */
const block = fc.array(fc.record({path, value, isMade: fc.boolean()}), {maxLength: 30});

function listNodes({bytes, ends, count}: TriePath): string[] {
  return Array.from({length: count}, (_, i) => toHex(bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i])));
}

test("every version of a trie has the root, the values and the proofs of one written key by key", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, {maxLength: 8}),
      fc.array(path, {maxLength: 10}),
      async (blocks, others) => {
        const pages = new MemoryPages();
        const writer = new TrieWriter(pages);
        const reader = new TrieReader(pages);
        const proved = new TriePath(reader, new Uint8Array(MAX_PATH_BYTES));
        const reference = new MerklePatriciaTrie();
        let trie = EMPTY_TRIE;
        const versions: {trie: typeof trie; reference: MerklePatriciaTrie}[] = [];
        for (const writes of blocks) {
          const held = new Map(
            writes.map(({path}) => [toHex(path), reader.find(trie.page, path, "slots")?.slice()]),
          );
          const made: string[] = [];
          const make = (path: Uint8Array, value: Uint8Array) => (before: Uint8Array | undefined) => {
            assert.deepEqual(before?.slice(), held.get(toHex(path)));
            made.push(toHex(path));
            return value;
          };
          trie = writer.update(
            trie,
            writes.map(({path, value, isMade}) => ({
              path,
              value: isMade && value ? make(path, value) : value,
            })),
            "slots",
          );
          const last = new Map(writes.map(write => [toHex(write.path), write]));
          const asked = [...last].filter(([, {value, isMade}]) => isMade && value).map(([path]) => path);
          assert.deepEqual(made.toSorted(), asked.toSorted(), "each is made once");
          for (const write of writes)
            if (write.value === undefined) await reference.del(write.path);
            else await reference.put(write.path, write.value);
          assert.equal(toHex(trie.root), toHex(reference.root()));
          versions.push({trie, reference: reference.shallowCopy()});
        }
        const paths = [...blocks.flat().map(write => write.path), ...others];
        for (const {trie, reference} of versions)
          for (const path of paths) {
            assert.deepEqual(proved.open(trie.page, path, "slots") ?? null, await reference.get(path));
            const expected = (await createMerkleProof(reference, path)).filter(
              (node, at) => at === 0 || node.length >= HASH_BYTES,
            );
            assert.deepEqual(listNodes(proved), expected.map(toHex));
            proved.open(trie.page, path, "slots", true);
            const below = childOfExtension(expected.at(-1) && toHex(expected.at(-1) as Uint8Array));
            const [branch, ...others] = listNodes(proved).slice(expected.length);
            assert.deepEqual(listNodes(proved).slice(0, expected.length), expected.map(toHex));
            assert.deepEqual(
              [branch && toHex(keccak256(Buffer.from(branch.slice(2), "hex"))), others],
              [below, []],
            );
            assert.deepEqual(reader.find(trie.page, path, "slots") ?? null, await reference.get(path));
          }
      },
    ),
    {numRuns: propertyRuns(40)},
  );
});

test("a branch that lies in the root's extension is no node of its own", () => {
  const pages = new MemoryPages();
  const writes = [0, 0x10].map(last => ({
    path: new Uint8Array(KEY_BYTES).fill(last, -1),
    value: Uint8Array.of(1),
  }));
  const {page} = new TrieWriter(pages).update(EMPTY_TRIE, writes, "slots");
  const proved = new TriePath(new TrieReader(pages), new Uint8Array(MAX_PATH_BYTES));
  for (const path of [writes[0]?.path as Uint8Array, new Uint8Array(KEY_BYTES).fill(1)])
    for (const joins of [false, true]) {
      proved.open(page, path, "slots", joins);
      assert.equal(proved.count, 1);
    }
});

test("a page of a version that was dropped is not taken for the one that gets its number", () => {
  const write = (first: number, last: number, byte?: number) => {
    const path = new Uint8Array(KEY_BYTES);
    path[0] = first;
    path[KEY_BYTES - 1] = last;
    return {path, value: byte === undefined ? undefined : Uint8Array.of(byte)};
  };
  const pages = new MemoryTries();
  const writer = new TrieWriter(pages);
  const before = writer.update(
    EMPTY_TRIE,
    [write(0x10, 1, 1), write(0x10, 2, 1), write(0x20, 0, 1)],
    "slots",
  );
  // One child is left. Its page is written, and read again at once to become the root's.
  const change = (byte: number) => [write(0x10, 3, byte), write(0x20, 0)];
  const drop = pages.begin();
  writer.update(before, change(2), "slots");
  drop();
  const {root} = writer.update(before, change(3), "slots");
  assert.equal(toHex(root), toHex(new TrieWriter(pages).update(before, change(3), "slots").root));
});
