/** Tries that are stored in part, against whole ones: nothing is known of them but roots, proofs and what can be asked. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {NodeMissing} from "../../storage/errors.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {putMissing} from "../../storage/trie/missingNodes.ts";
import {EMPTY_TRIE, TrieReader, type TrieRoot, TrieWriter} from "../../storage/trie/trie.ts";
import {MAX_PATH_BYTES, TriePath} from "../../storage/trie/triePath.ts";
import {propertyRuns} from "../support/soak.ts";
import {MemoryPages} from "../support/stores/memoryPages.ts";

/** Keys that share 0 to 12 nibbles, and then differ as hashes do. */
const path = fc
  .tuple(fc.constantFrom(0, 1, 0x10, 0x11), fc.constantFrom(0, 1, 2), fc.constantFrom(0, 1, 0x10), fc.nat(5))
  .map(([first, second, sixth, seed]) => {
    const bytes = new Uint8Array(keccak256(Uint8Array.of(seed)));
    bytes.set([first, second, 0, 0, 0, sixth]);
    return bytes;
  });
/** A leaf with a long path below it and a short value is inlined in its parent. */
const value = fc.option(
  fc
    .tuple(fc.constantFrom(1, 2, 33), fc.integer({min: 1, max: 127}))
    .map(([length, byte]) => new Uint8Array(length).fill(byte)),
  {nil: undefined, freq: 2},
);
const block = fc.uniqueArray(fc.record({path, value}), {
  selector: write => toHex(write.path),
  minLength: 1,
  maxLength: 6,
});

function write(first: number, second: number, byte?: number) {
  const path = new Uint8Array(keccak256(Uint8Array.of(0)));
  path.set([first, second, 0, 0, 0, 0]);
  return {path, value: byte === undefined ? undefined : Uint8Array.of(byte)};
}

/** What is left of a branch moves up, and is itself written before anybody asks for it: a leaf, and an extension. */
const COLLAPSES: [ReturnType<typeof write>[], ReturnType<typeof write>[][]][] = [0x11, 0x01].flatMap(
  first => [
    [
      [write(0, 0, 1), write(first, 0, 2)],
      [[write(0, 0)], [write(first, 0)]],
    ],
    [
      [write(0, 0, 1), write(first, 0, 2), write(first, 1, 3)],
      [[write(0, 0)], [write(first, 0, 4)], [write(first, 1)]],
    ],
  ],
);

/** A leaf that no block writes: its node has to be asked for. */
const UNWRITTEN: (typeof COLLAPSES)[number] = [[write(0, 0, 1), write(0x11, 0, 2)], [[write(0, 0, 3)]]];

class Proofs {
  private readonly pages = new MemoryPages();
  private readonly writer = new TrieWriter(this.pages);
  private readonly proved = new TriePath(new TrieReader(this.pages), new Uint8Array(MAX_PATH_BYTES));

  write(trie: TrieRoot, writes: readonly {path: Uint8Array; value: Uint8Array | undefined}[]): TrieRoot {
    return this.writer.update(trie, writes, "slots");
  }

  at({page}: TrieRoot, path: Uint8Array): Uint8Array[] {
    this.proved.open(page, path, "slots");
    return listNodes(this.proved);
  }
}

function listNodes({bytes, ends, count}: TriePath): Uint8Array[] {
  return Array.from({length: count}, (_, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], ends[i]));
}

function byHash(nodes: readonly Uint8Array[]): Map<string, Uint8Array> {
  return new Map(nodes.map(node => [toHex(keccak256(node)), node]));
}

test("every path of every version is proved as by the whole trie: from what was stored, or if nothing wrote it since, by a proof of the newest version", () => {
  const counts = {proved: 0, asked: 0};
  const check = (
    before: readonly {path: Uint8Array; value: Uint8Array | undefined}[],
    blocks: readonly (readonly {path: Uint8Array; value: Uint8Array | undefined}[])[],
  ): void => {
    const node = new Proofs();
    const pages = new MemoryPages();
    const writer = new TrieWriter(pages);
    const reader = new TrieReader(pages);
    const proved = new TriePath(reader, new Uint8Array(MAX_PATH_BYTES));
    let whole = node.write(EMPTY_TRIE, before);
    let part: TrieRoot = {root: whole.root, page: 0};
    const versions = [{whole, part, written: new Set<string>()}];
    for (const writes of blocks) {
      const next = node.write(whole, writes);
      for (const {path} of writes)
        assert.equal(putMissing(reader, pages, part, path, "slots", node.at(whole, path)), undefined);
      writer.nodes = byHash(writes.flatMap(({path}) => node.at(next, path)));
      const {unexplained, ...absorbed} = writer.absorb(part, next.root, "slots");
      assert.equal(unexplained, 0);
      for (const {path} of writes) for (const version of versions) version.written.add(toHex(path));
      whole = next;
      part = absorbed;
      versions.push({whole, part, written: new Set()});
    }
    const paths = new Map([...before, ...blocks.flat()].map(({path}) => [toHex(path), path]));
    for (const {whole: then, part, written} of versions)
      for (const [name, path] of paths) {
        const prove = () => proved.open(part.page, path, "slots", false, part.root)?.slice();
        let value: Uint8Array | undefined;
        try {
          value = prove();
          counts.proved++;
        } catch (error) {
          if (!(error instanceof NodeMissing)) throw error;
          assert.ok(!written.has(name), "a path that a block wrote needs no node");
          assert.equal(putMissing(reader, pages, part, path, "slots", node.at(whole, path)), undefined);
          value = prove();
          counts.asked++;
        }
        assert.deepEqual(listNodes(proved).map(toHex), node.at(then, path).map(toHex));
        assert.deepEqual(value, reader.find(part.page, path, "slots", part.root)?.slice());
      }
  };
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({path, value}), {selector: write => toHex(write.path), maxLength: 40}),
      fc.array(block, {maxLength: 12}),
      check,
    ),
    {numRuns: propertyRuns(150), examples: [...COLLAPSES, UNWRITTEN]},
  );
  assert.ok(counts.proved > counts.asked && counts.asked > 0, JSON.stringify(counts));
});

test("a leaf that changed although no proof leads to it is unexplained", () => {
  const node = new Proofs();
  const writer = new TrieWriter(new MemoryPages());
  const before = [write(0, 0, 1), write(0x11, 0, 2)];
  const whole = node.write(EMPTY_TRIE, before);
  writer.nodes = byHash(before.flatMap(({path}) => node.at(whole, path)));
  const part = writer.absorb(EMPTY_TRIE, whole.root, "slots");
  const changes = [write(0, 0, 3), write(0x11, 0, 4)];
  const next = node.write(whole, changes);
  for (const [count, named] of [
    [0, changes],
    [1, changes.slice(1)],
  ] as const) {
    writer.nodes = byHash(named.flatMap(({path}) => node.at(next, path)));
    assert.equal(writer.absorb(part, next.root, "slots").unexplained, count);
  }
});
