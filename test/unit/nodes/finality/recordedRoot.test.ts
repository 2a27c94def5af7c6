import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {readRecordedRoot} from "../../../../nodes/finality/recordedRoot.ts";
import {type Node, NodeFailure} from "../../../../nodes/rpc/node.ts";

const CONTRACT = Buffer.alloc(20, 0xaa);
const SELECTOR = Buffer.from(keccak_256(Buffer.from("stateRootHashes(uint256)"))).toString("hex", 0, 4);

function nodeOf(answer: unknown): Node {
  return {
    name: "http://node:1",
    request: async (method, params) => {
      const data = `0x${SELECTOR}${"0".repeat(61)}1ff`;
      assert.deepEqual([method, params], ["eth_call", [{to: `0x${"aa".repeat(20)}`, data}, "finalized"]]);
      return answer;
    },
    requestAll: () => assert.fail("one call is enough"),
  };
}

test("an address without such a contract, and an answer that is no word, are failures of the node", async () => {
  for (const [answer, message] of [
    ["0x", /it has no contract with stateRootHashes\(uint256\) at 0xaaaa/],
    ["0x1234", /stateRootHashes\(511\): expected 32 bytes.*, got "0x1234"/],
    [null, /stateRootHashes\(511\): expected 32 bytes.*, got null/],
  ] as const)
    await assert.rejects(readRecordedRoot(nodeOf(answer), CONTRACT, 0x1ff), error => {
      assert.ok(error instanceof NodeFailure);
      assert.match(String(error), message);
      return true;
    });
});
