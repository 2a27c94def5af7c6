import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {TrieMemory} from "../../../../evm/trie/trieMemory.ts";
import {EMPTY_ROOT} from "../../../../evm/trie/trieNodes.ts";
import {StoreError} from "../../../../storage/errors.ts";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {toHex} from "../../../../storage/hex.ts";
import {MAX_PATH_BYTES, TriePath} from "../../../../storage/trie/triePath.ts";
import {MemoryNodes} from "../../../support/chains/memoryNodes.ts";
import {propertyRuns} from "../../../support/soak.ts";

const PATH = keccak256(Uint8Array.of(1));
const VALUE = new Uint8Array(110).fill(7);

function createPath(nodes: MemoryNodes): TriePath {
  const store = {readExecutionNode: (name: string) => nodes.get(name) as Buffer | undefined};
  return new TriePath(store, new Uint8Array(MAX_PATH_BYTES));
}

/** PATH, and a path that leaves it at each nibble. */
function makeDeepTrie(): {nodes: MemoryNodes; root: Uint8Array} {
  const paths = [PATH];
  for (let nibble = 0; nibble < 64; nibble++) {
    const other = new Uint8Array(PATH);
    other[nibble >> 1] = (other[nibble >> 1] as number) ^ (nibble % 2 === 0 ? 0x10 : 0x01);
    paths.push(other);
  }
  const nodes = new MemoryNodes();
  const memory = new TrieMemory(nodes);
  const root = memory.update(
    EMPTY_ROOT,
    paths.map(path => ({path, value: VALUE})),
  );
  memory.persist();
  return {nodes, root};
}

test("a path has a branch for each of its nibbles and a leaf, at most", () => {
  const {nodes, root} = makeDeepTrie();
  const path = createPath(nodes);
  assert.deepEqual(path.open(root, PATH), VALUE);
  assert.equal(path.count, 65);
  assert.equal(path.open(EMPTY_ROOT, PATH), undefined);
  assert.equal(path.count, 0);
});

test("a node that is missing, changed or too long is refused by its name, wherever it is on the path", () => {
  const {nodes, root} = makeDeepTrie();
  const path = createPath(nodes);
  path.open(root, PATH);
  for (let i = 0; i < path.count; i += 8) {
    const node = path.bytes.slice(i === 0 ? 0 : path.ends[i - 1], path.ends[i]);
    const name = toHex(keccak256(node));
    const open = (stored?: Uint8Array) => {
      const changed = new MemoryNodes(nodes.map);
      if (stored === undefined) changed.map.delete(name.slice(2));
      else changed.map.set(name.slice(2), stored);
      return () => createPath(changed).open(root, PATH);
    };
    assert.throws(open(), {code: "RECORD_MISSING", message: `trie node ${name} is not in the store`});
    const flipped = node.slice();
    flipped[i % flipped.length] = (flipped[i % flipped.length] as number) ^ 1;
    const message = `trie node ${name}: its bytes have another hash`;
    for (const stored of [flipped, node.subarray(1), new Uint8Array(0), Buffer.alloc(1 << 20)])
      assert.throws(open(stored), {code: "RECORD_DAMAGED", message});
  }
});

test("extensions that lead nowhere are refused, however many there are", () => {
  const nodes = new MemoryNodes();
  const put = (node: Uint8Array) => {
    const hash = keccak256(node);
    nodes.map.set(toHex(hash).slice(2), node);
    return hash;
  };
  let root = put(Uint8Array.of(0xc2, 0x20, 1));
  for (let i = 0; i < 100; i++) root = put(Uint8Array.of(0xe2, 0x00, 0xa0, ...root));
  const message = `the path ${toHex(PATH)} of the trie with the root ${toHex(root)}: an extension has no nibbles`;
  assert.throws(() => createPath(nodes).open(root, PATH), {code: "RECORD_DAMAGED", message});
});

test("whatever bytes have the right hash, a path ends with a value, with nothing or with an error that names it", () => {
  const {nodes, root} = makeDeepTrie();
  const whole = nodes.map.get(toHex(root).slice(2)) as Uint8Array;
  const node = fc.oneof(
    fc.uint8Array({maxLength: 100}),
    fc
      .tuple(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length))
      .map(([at, byte, length]) => whole.slice(0, length + 1).fill(byte, at, at + 1)),
    // A list of any items, with paths of any length.
    fc
      .array(fc.constantFrom(0x20, 0x80, 0x81, 0xa0, 0xb8, 0xc0, 0xc1, 0xe1, 0xf8, 0xff), {maxLength: 55})
      .map(items => Uint8Array.of(0xc0 + items.length, ...items)),
  );
  const path = createPath(nodes);
  fc.assert(
    fc.property(node, bytes => {
      const hash = keccak256(bytes);
      nodes.map.set(toHex(hash).slice(2), bytes);
      try {
        const value = path.open(hash, PATH);
        assert.ok(value === undefined || value instanceof Uint8Array);
      } catch (error) {
        assert.ok(error instanceof StoreError, `${error}`);
        assert.match(error.message, /^trie node 0x|^the path 0x/);
      }
    }),
    {numRuns: propertyRuns(500)},
  );
});
