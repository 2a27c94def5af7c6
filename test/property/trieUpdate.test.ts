/** Writing many keys of a trie at once against writing one after the other with @ethereumjs/mpt. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {MerklePatriciaTrie} from "@ethereumjs/mpt";
import {KECCAK256_RLP} from "@ethereumjs/util";
import fc from "fast-check";
import {toHex} from "../../storage/hex.ts";
import {toNibbles} from "../../workers/execution/trieShape.ts";
import {updateTrie} from "../../workers/execution/trieUpdate.ts";
import {propertyRuns} from "../support/soak.ts";

const KEY_BYTES = 32;

/** Keys that share few or many nibbles: their first, middle or last bytes differ. */
const key = fc
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
    .tuple(fc.constantFrom(1, 2, 33), fc.integer({min: 1, max: 255}))
    .map(([length, byte]) => new Uint8Array(length).fill(byte)),
  {nil: undefined},
);
const batch = fc.uniqueArray(fc.record({key, value}), {selector: write => toHex(write.key), maxLength: 30});

test("a trie written in batches has the root of one written key by key, and all its nodes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(batch, {maxLength: 5}), async batches => {
      const nodes = new Map<string, Uint8Array>();
      const store = {
        read(hash: Uint8Array): Uint8Array {
          const node = nodes.get(toHex(hash));
          assert.ok(node, `node ${toHex(hash)} is missing`);
          return node;
        },
        write: (hash: Uint8Array, node: Uint8Array) => void nodes.set(toHex(hash), node),
      };
      const reference = new MerklePatriciaTrie();
      let root: Uint8Array = KECCAK256_RLP;
      for (const writes of batches) {
        root = updateTrie(
          store,
          root,
          writes.map(write => ({path: toNibbles(write.key), value: write.value})),
        );
        for (const write of writes)
          if (write.value === undefined) await reference.del(write.key);
          else await reference.put(write.key, write.value);
        assert.deepEqual(root, reference.root());
      }
    }),
    {numRuns: propertyRuns(100)},
  );
});
