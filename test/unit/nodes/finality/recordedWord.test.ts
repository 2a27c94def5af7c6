import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {readRecordedWord} from "../../../../nodes/finality/recordedWord.ts";
import {type Node, NodeFailure} from "../../../../nodes/rpc/node.ts";

const CONTRACT = Buffer.alloc(20, 0xaa);
const GETTERS = ["stateRootHashes", "blockHashes"] as const;

function nodeOf(getter: string, answer: unknown): Node {
  const selector = Buffer.from(keccak_256(Buffer.from(`${getter}(uint256)`))).toString("hex", 0, 4);
  return {
    name: "http://node:1",
    request: async (method, params) => {
      const data = `0x${selector}${"0".repeat(61)}1ff`;
      assert.deepEqual([method, params], ["eth_call", [{to: `0x${"aa".repeat(20)}`, data}, "finalized"]]);
      return answer;
    },
    requestAll: () => assert.fail("one call is enough"),
  };
}

test("an address without such a contract, and an answer that is no word, are failures of the node", async () => {
  for (const getter of GETTERS)
    for (const [answer, message] of [
      ["0x", `it has no contract with ${getter}\\(uint256\\) at 0xaaaa`],
      ["0x1234", `${getter}\\(511\\): expected 32 bytes.*, got "0x1234"`],
      [null, `${getter}\\(511\\): expected 32 bytes.*, got null`],
    ] as const)
      await assert.rejects(readRecordedWord(nodeOf(getter, answer), CONTRACT, getter, 0x1ff), error => {
        assert.ok(error instanceof NodeFailure);
        assert.match(String(error), new RegExp(message));
        return true;
      });
});
