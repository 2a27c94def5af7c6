/** Tries in linear memory, and the paths that they prove, against @ethereumjs/mpt, which writes one key after the other. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createMerkleProof, MerklePatriciaTrie} from "@ethereumjs/mpt";
import fc from "fast-check";
import {TrieMemory} from "../../evm/trie/trieMemory.ts";
import {EMPTY_ROOT} from "../../evm/trie/trieNodes.ts";
import {toHex} from "../../storage/hex.ts";
import {MAX_PATH_BYTES, TriePath} from "../../storage/trie/triePath.ts";
import {MemoryNodes} from "../support/chains/memoryNodes.ts";
import {propertyRuns} from "../support/soak.ts";

const KEY_BYTES = 32;

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
/** The same path may come twice. */
const batch = fc.record({
  writes: fc.array(fc.record({path, value}), {maxLength: 30}),
  end: fc.constantFrom("persist", "drop", "nothing"),
});

function createPath(nodes: MemoryNodes): TriePath {
  const store = {readExecutionNode: (name: string) => nodes.get(name) as Buffer | undefined};
  return new TriePath(store, new Uint8Array(MAX_PATH_BYTES));
}

function listNodes({bytes, ends, count}: TriePath): string[] {
  return Array.from({length: count}, (_, i) => toHex(bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i])));
}

/** As geth lists them: without the nodes that stand in their parents, which are shorter than 32 bytes. */
async function proveByReference(trie: MerklePatriciaTrie, key: Uint8Array): Promise<string[]> {
  const nodes = await createMerkleProof(trie, key);
  return nodes.filter((node, i) => i === 0 || node.length >= 32).map(toHex);
}

test("a trie written in batches has the root of one written key by key, its values, all its nodes and its proofs", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(batch, {maxLength: 6}), async batches => {
      const nodes = new MemoryNodes();
      const memory = new TrieMemory(nodes);
      let reference = new MerklePatriciaTrie();
      let root = EMPTY_ROOT;
      let persisted = {root, reference: reference.shallowCopy()};
      for (const {writes, end} of batches) {
        root = memory.update(root, writes);
        for (const write of writes)
          if (write.value === undefined) await reference.del(write.path);
          else await reference.put(write.path, write.value);
        assert.equal(toHex(root), toHex(reference.root()));
        for (const write of writes)
          assert.deepEqual(memory.find(root, write.path) ?? null, await reference.get(write.path));
        if (end === "persist") {
          memory.persist();
          persisted = {root, reference: reference.shallowCopy()};
          const reopened = new TrieMemory(nodes);
          const proved = createPath(nodes);
          for (const write of writes) {
            const expected = await reference.get(write.path);
            assert.deepEqual(reopened.find(root, write.path) ?? null, expected);
            assert.deepEqual(proved.open(root, write.path) ?? null, expected);
            assert.deepEqual(listNodes(proved), await proveByReference(reference, write.path));
          }
        } else if (end === "drop") {
          memory.drop();
          root = persisted.root;
          reference = persisted.reference.shallowCopy();
        }
      }
    }),
    {numRuns: propertyRuns(100)},
  );
});
