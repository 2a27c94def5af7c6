/** The newest block that a node's chain and ours have in common. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {findCommonAncestor} from "../../../../nodes/blocks/commonAncestor.ts";
import type {Node} from "../../../../nodes/rpc/node.ts";
import {toHex} from "../../../../storage/hex.ts";

const LATEST = 1000;

function hashOf(block: number, branch: number): Uint8Array {
  const hash = Buffer.alloc(32, branch);
  hash.writeUInt32BE(block);
  return hash;
}

/** A node whose blocks above `shared` are of another branch, up to `head`. */
function nodeWith(shared: number, head: number): {node: Node; asked: number[]} {
  const asked: number[] = [];
  const node: Node = {
    name: "http://node",
    request: async (_method, [tag]) => {
      const number = Number(tag);
      asked.push(number);
      if (number > head) return undefined;
      const [hash, parentHash] = [number, number - 1].map(at => toHex(hashOf(at, at > shared ? 2 : 1)));
      return {number: `0x${number.toString(16)}`, hash, parentHash};
    },
    requestAll: async () => [],
  };
  return {node, asked};
}

const held = (floor: number) => ({hashOf: (block: number) => hashOf(block, 1), floor, why: "is finalized"});

test("the common ancestor is found at any depth, with few questions", async () => {
  for (const shared of [1000, 999, 998, 997, 900, 513, 512, 101, 100]) {
    const {node, asked} = nodeWith(shared, LATEST + 5);
    assert.equal(await findCommonAncestor(node, held(100), LATEST), shared);
    assert.ok(asked.length <= 22, `${asked.length} questions`);
  }
});

test("a block that is not there is a failure of the node, and no other chain", async () => {
  await assert.rejects(findCommonAncestor(nodeWith(950, 950).node, held(100), LATEST), {
    name: "NodeFailure",
    message: "it has no block 1000, although it had a newer one just now",
  });
});

test("chains that part below the block that must stay are refused with both hashes", async () => {
  const message = `the node http://node is on another chain: its block 100 is ${toHex(hashOf(100, 2))}, ours is ${toHex(hashOf(100, 1))} and is finalized`;
  await assert.rejects(findCommonAncestor(nodeWith(99, LATEST).node, held(100), LATEST), {
    name: "DeepFork",
    message,
  });
});
