/** Blocks of tables that no LevelDB of the tests writes. What it writes, integration/storage reads. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {BlockCursor} from "../../../../storage/leveldb/blockCursor.ts";

test("a block without entries has one restart point, and no key", () => {
  const block = Buffer.from("0000000001000000", "hex");
  const cursor = new BlockCursor(block, what => new Error(what));
  assert.equal(cursor.seek(Buffer.from("key")), false);
  assert.equal(cursor.next(), false);
});
