import assert from "node:assert/strict";
import {test} from "node:test";
import {type Node, NodeFailure} from "../../../../nodes/rpc/node.ts";
import {readProvenBlock} from "../../../../nodes/rpc/provenBlock.ts";

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

test("an answer for another block, or without a root, is a failure of the node", async () => {
  for (const [answer, message] of [
    [{...BLOCK, hash: BLOCK.stateRoot}, /^NodeFailure: expected block 0xabab.*, got block 0xcdcd.*$/],
    [{...BLOCK, stateRoot: "0x00"}, /stateRoot: expected 32 bytes.*, got "0x00"/],
    [{...BLOCK, number: 5}, /number: expected a number.*, got 5/],
    [null, /block 0xabab.*: expected an object, got null/],
  ] as const)
    await assert.rejects(readProvenBlock(nodeOf(answer), HASH), error => {
      assert.ok(error instanceof NodeFailure);
      assert.match(String(error), message);
      return true;
    });
});
