import assert from "node:assert/strict";
import {test} from "node:test";
import {createMPT} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import {listRoot} from "../../../../storage/trie/listRoot.ts";

/** Of the module's memory: where it takes a whole leaf. */
const ROOM = 0xd2000 - 0x11000;

test("values as long as the module's memory for them, and longer ones, count whole", async () => {
  for (let bytes = ROOM - 16; bytes < ROOM + 2; bytes++) {
    const value = new Uint8Array(bytes).fill(7);
    assert.deepEqual(listRoot([value]), keccak256(RLP.encode([Uint8Array.of(0x20, 0x80), value])));
  }
  const values = [5, ROOM, 40].map((bytes, i) => new Uint8Array(bytes).fill(i + 1));
  const reference = await createMPT();
  for (const [position, value] of values.entries()) await reference.put(RLP.encode(position), value);
  assert.deepEqual(listRoot(values), reference.root());
});
