import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {ExecutionError} from "../../../../evm/execution/executionError.ts";
import {TrieMemory, type TrieWrite} from "../../../../evm/trie/trieMemory.ts";
import {EMPTY_ROOT} from "../../../../evm/trie/trieNodes.ts";
import {StoreError} from "../../../../storage/errors.ts";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {MemoryNodes} from "../../../support/chains/memoryNodes.ts";
import {propertyRuns} from "../../../support/soak.ts";

/** Values of 110 bytes, as accounts have. */
function makeWrites(from: number, to: number): TrieWrite[] {
  return Array.from({length: to - from}, (_, i) => {
    const path = keccak256(Buffer.from(`${from + i}`));
    return {path, value: Buffer.alloc(110, path)};
  });
}

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}

function makeTrie(writes: readonly TrieWrite[]): {nodes: MemoryNodes; root: Uint8Array} {
  const nodes = new MemoryNodes();
  const memory = new TrieMemory(nodes);
  const root = memory.update(EMPTY_ROOT, writes);
  memory.persist();
  return {nodes, root};
}

const hash = Buffer.alloc(32, 7);
const rlp = (...bytes: (number | Uint8Array)[]): Buffer =>
  Buffer.concat(bytes.map(one => (typeof one === "number" ? Buffer.of(one) : one)));
const noChildren = Buffer.alloc(16, 0x80);
const DAMAGED: readonly (readonly [name: string, node: Uint8Array])[] = [
  ["no bytes", Buffer.alloc(0)],
  ["a string", rlp(0x82, 1, 2)],
  ["a list that is cut short", rlp(0xc3, 0x20)],
  ["bytes after the list", rlp(0xc2, 0x20, 1, 0)],
  ["one item", rlp(0xc1, 0x20)],
  ["three items", rlp(0xc3, 0x20, 1, 1)],
  ["a path that is a list", rlp(0xc2, 0xc0, 1)],
  ["a path without a flag", rlp(0xc2, 0x80, 1)],
  ["a path with an unknown flag", rlp(0xc2, 0x40, 1)],
  ["a path of 66 nibbles", rlp(0xe4, 0xa2, 0x20, Buffer.alloc(33), 1)],
  ["a leaf of another depth", rlp(0xc2, 0x20, 1)],
  ["a leaf whose value is a list", rlp(0xe3, 0xa1, 0x20, hash, 0xc0)],
  ["a leaf without a value", rlp(0xe3, 0xa1, 0x20, hash, 0x80)],
  ["an extension of no nibbles", rlp(0xe2, 0, 0xa0, hash)],
  ["an extension to nothing", rlp(0xc2, 0x11, 0x80)],
  ["an extension with a short hash", rlp(0xc4, 0x11, 0x82, 1, 2)],
  ["an extension as long as the path", rlp(0xf8, 0x43, 0xa1, 0, hash, 0xa0, hash)],
  ["a branch with a value", rlp(0xd1, noChildren, 1)],
  ["a branch with a child of one byte", rlp(0xd1, 1, noChildren)],
  ["a branch with a list that is no node", rlp(0xd2, 0xc1, 0x80, noChildren)],
  ["a length that overflows", rlp(0xfb, 0xff, 0xff, 0xff, 0xff, 0x20, 1)],
  ["a string longer than its list", rlp(0xc3, 0x20, 0xb8, 0xff)],
  ["more bytes than a node has", Buffer.alloc(600, 0x80)],
];

test("a stored node that is none is refused by its name", () => {
  const path = new Uint8Array(32);
  const name = nameOf(hash);
  const expected = {code: "RECORD_DAMAGED", message: new RegExp(`^trie node 0x${name}: `)};
  for (const [what, node] of DAMAGED) {
    const memory = new TrieMemory(new MemoryNodes([[name, node]]));
    const update = () => memory.update(hash, [{path, value: Buffer.of(1)}]);
    assert.throws(update, expected, what);
    assert.throws(() => memory.find(hash, path), expected, what);
  }
});

test("whatever a store gives instead of a node, an answer or an error that names it comes", () => {
  const writes = makeWrites(0, 100);
  const {nodes, root} = makeTrie(writes);
  const names = [...nodes.map.keys()];
  const change = fc.record({at: fc.double({min: 0, max: 1, noNaN: true}), byte: fc.nat(255), cut: fc.nat(9)});
  fc.assert(
    fc.property(
      fc.nat(names.length - 1),
      fc.array(change, {minLength: 1, maxLength: 3}),
      (which, changes) => {
        const name = names[which] as string;
        let node = new Uint8Array(nodes.map.get(name) ?? []);
        for (const {at, byte, cut} of changes) {
          node[Math.floor(at * node.length)] = byte;
          if (cut === 0) node = node.slice(0, Math.floor(at * node.length));
        }
        const memory = new TrieMemory(new MemoryNodes([...nodes.map, [name, node]]));
        const removals = writes.map(({path}) => ({path, value: undefined}));
        for (const run of [() => memory.find(root, keccak256(node)), () => memory.update(root, removals)])
          try {
            run();
          } catch (error) {
            assert.ok(error instanceof StoreError || error instanceof ExecutionError, `${error}`);
            assert.match(error.message, /^trie node 0x[0-9a-f]{64}/);
          }
      },
    ),
    {numRuns: propertyRuns(300)},
  );
});

test("nodes that were dropped are put if they are made again", () => {
  const nodes = new MemoryNodes();
  const memory = new TrieMemory(nodes);
  const writes = makeWrites(0, 50);
  memory.update(EMPTY_ROOT, writes);
  memory.drop();
  memory.persist();
  assert.equal(nodes.map.size, 0);
  const root = memory.update(EMPTY_ROOT, writes);
  memory.persist();
  const reopened = new TrieMemory(nodes);
  for (const {path, value} of writes)
    assert.deepEqual(reopened.find(root, path), new Uint8Array(value ?? []));
});

test("more new nodes than the memory holds are put early, and none is lost", () => {
  const nodes = new MemoryNodes();
  const memory = new TrieMemory(nodes);
  const writes = makeWrites(0, 30_000);
  let root = EMPTY_ROOT;
  for (let first = 0; first < writes.length; first += 15)
    root = memory.update(root, writes.slice(first, first + 15));
  assert.ok(nodes.map.size > 0);
  memory.persist();
  assert.deepEqual(root, makeTrie(writes).root);
  const reopened = new TrieMemory(nodes);
  for (const {path, value} of writes)
    assert.ok(Buffer.from(value ?? []).equals(reopened.find(root, path) ?? hash));
});

test("a value that no account has is refused", () => {
  const memory = new TrieMemory(new MemoryNodes());
  for (const bytes of [0, 145])
    assert.throws(() => memory.update(EMPTY_ROOT, [{path: hash, value: new Uint8Array(bytes)}]), {
      message: `expected a value of 1 to 144 bytes, got ${bytes}`,
    });
});
