/** Law: of any trie of @ethereumjs/mpt, the proof of any key proves its value or absence, as geth and as reth write it. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createMPT} from "@ethereumjs/mpt";
import fc from "fast-check";
import {ProofError} from "../../client/proof/proofError.ts";
import {verifyTrieKey} from "../../client/trie/trieProof.ts";
import {proveKey} from "../support/reference/ethState.ts";
import {propertyRuns} from "../support/soak.ts";

/** Paths that share few or many digits: their first, middle or last bytes differ. */
const path = fc
  .tuple(fc.constantFrom(0, 1, 16, 30, 31), fc.constantFrom(0, 1, 0x0f, 0x10, 0x1f, 0xf0), fc.nat(3))
  .map(([at, byte, last]) => {
    const bytes = new Uint8Array(32);
    bytes[at] = byte;
    bytes[31] = (bytes[31] as number) + last;
    return bytes;
  });
/** Short values make nodes that lie in their parents. */
const value = fc
  .tuple(fc.constantFrom(1, 2, 33, 110), fc.integer({min: 1, max: 255}))
  .map(([length, byte]) => new Uint8Array(length).fill(byte));

test("the proof of any key proves its value or its absence, and of nothing else", async () => {
  let inner = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({path, value}), {maxLength: 25}),
      fc.array(path, {minLength: 3, maxLength: 3}),
      async (writes, others) => {
        const trie = await createMPT();
        for (const write of writes) await trie.put(write.path, write.value);
        for (const asked of [...writes.slice(0, 4).map(write => write.path), ...others]) {
          const value = (await trie.get(asked)) ?? undefined;
          const [short, whole] = [await proveKey(trie, asked), await proveKey(trie, asked, true)];
          if (whole.length > short.length) inner++;
          for (const proof of [short, whole])
            assert.deepEqual(verifyTrieKey(trie.root(), asked, "proof", proof), value);
          const refuse = (proof: readonly string[]) =>
            assert.throws(() => verifyTrieKey(trie.root(), asked, "proof", proof), ProofError);
          if (short.length > 0) refuse(short.slice(0, -1));
          for (const i of whole.keys()) refuse(whole.toSpliced(i, 0, whole[i] as string));
        }
      },
    ),
    {numRuns: propertyRuns(60)},
  );
  assert.ok(inner > 0, "some nodes lie in their parents");
});
