/** The newest block that a node's chain and ours have in common. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {findCommonAncestor} from "../../../../nodes/blocks/commonAncestor.ts";
import type {Node} from "../../../../nodes/rpc/node.ts";
import {toHex} from "../../../../storage/hex.ts";
import {hashOf} from "../../../support/stores/writtenStore.ts";

test("the common ancestor is found at any depth, with few queries", async () => {
  for (const shared of [1000, 999, 998, 997, 900, 513, 512, 101, 100]) {
    let asked = 0;
    const node: Node = {
      name: "http://node",
      request: async (_method, [tag]) => {
        asked++;
        const [hash, parentHash] = [0, 1].map(back => Number(tag) - back).map(block => toHex(theirs(block)));
        return {number: tag, hash, parentHash};
      },
      requestAll: async () => [],
    };
    const theirs = (block: number) => hashOf(block, block > shared ? 2 : 1);
    const held = {hashOf: (block: number) => hashOf(block, 1), floor: 100, why: "is finalized"};
    assert.equal(await findCommonAncestor(node, held, 1000), shared);
    assert.ok(asked <= 22, `${asked} queries`);
  }
});
