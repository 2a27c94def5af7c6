import assert from "node:assert/strict";
import {test} from "node:test";
import {type Node, NodeFailure} from "../../../../sync/rpc/node.ts";
import {readProvenBlock} from "../../../../sync/rpc/provenBlock.ts";

const HASH = Buffer.alloc(32, 0xab);
const ROOT = Buffer.alloc(32, 0xcd);
const BLOCK = {
  number: "0x5",
  hash: `0x${HASH.toString("hex")}`,
  stateRoot: `0x${ROOT.toString("hex")}`,
  finalized: true,
};

function nodeOf(answer: unknown): Node {
  return {
    name: "http://node:1",
    request: async (method, params) => {
      assert.deepEqual([method, params], ["chain_getStateRoot", [{blockHash: BLOCK.hash}]]);
      return answer;
    },
    requestAll: () => assert.fail("one call is enough"),
  };
}

test("a block is asked for by its hash, and has the root that the node says", async () => {
  const block = {number: 5, hash: HASH, stateRoot: ROOT, isFinalized: true};
  assert.deepEqual(await readProvenBlock(nodeOf(BLOCK), HASH), block);
  const open = await readProvenBlock(nodeOf({...BLOCK, finalized: false}), HASH);
  assert.equal(open.isFinalized, false);
});

test("an answer for another block, or without a root, is a failure of the node", async () => {
  for (const [answer, message] of [
    [{...BLOCK, hash: BLOCK.stateRoot}, /^NodeFailure: block 0xabab.* was asked for, block 0xcdcd.* came$/],
    [{...BLOCK, stateRoot: "0x00"}, /stateRoot is "0x00"; expected is 32 bytes/],
    [{...BLOCK, number: 5}, /number is 5; expected is a number: 0x/],
    [null, /block 0xabab.* is null; expected is an object/],
  ] as const)
    await assert.rejects(readProvenBlock(nodeOf(answer), HASH), error => {
      assert.ok(error instanceof NodeFailure);
      assert.match(String(error), message);
      return true;
    });
});
