/** Nodes as text by WebAssembly, against Node's own digits. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {NodeText, QUOTE_BYTES, VECTOR_BYTES} from "../../../../workers/prove/nodeText.ts";
import {ProofText} from "../../../../workers/prove/proofText.ts";
import {propertyRuns} from "../../../support/soak.ts";

const CAPACITY = 8192;
const UNWRITTEN = 0xee;
const nodeText = new NodeText(CAPACITY);

function digitsOf(nodes: Uint8Array, nodeBytes: number): string {
  let text = "";
  for (let at = 0; at < nodes.length; at += nodeBytes)
    text += `,"0x${Buffer.from(nodes.subarray(at, at + nodeBytes)).toString("hex")}"`;
  return text;
}

test("nodes of any size, in any number and place, are written as their digits, and nothing beside them", () => {
  const whole = fc.integer({min: 1, max: 12}).map(vectors => vectors * VECTOR_BYTES);
  const counted = fc.record({nodeBytes: fc.oneof(whole, fc.integer({min: 1, max: 190})), count: fc.nat(42)});
  const placed = counted.chain(({nodeBytes, count}) => {
    const length = nodeBytes * count;
    return fc.record({
      nodeBytes: fc.constant(nodeBytes),
      nodes: fc.uint8Array({minLength: length, maxLength: length}),
      from: fc.nat(CAPACITY - length),
      at: fc.nat(2 * CAPACITY),
    });
  });
  const property = fc.property(placed, ({nodeBytes, nodes, from, at}) => {
    nodeText.nodes.fill(UNWRITTEN).set(nodes, from);
    const before = Buffer.from(nodeText.nodes);
    nodeText.text.fill(UNWRITTEN);
    const count = nodes.length / nodeBytes;
    const end = nodeText.quote(from, count, nodeBytes, at);
    assert.equal(end, at + count * (2 * nodeBytes + QUOTE_BYTES));
    assert.equal(Buffer.from(nodeText.text.subarray(at, end)).toString("latin1"), digitsOf(nodes, nodeBytes));
    assert.ok(nodeText.text.subarray(0, at).every(byte => byte === UNWRITTEN));
    // What is left of the last vector is written too.
    const written = nodeBytes % VECTOR_BYTES === 0 ? end : end + 2 * VECTOR_BYTES;
    assert.ok(nodeText.text.subarray(written).every(byte => byte === UNWRITTEN));
    assert.ok(before.equals(nodeText.nodes));
  });
  fc.assert(property, {numRuns: propertyRuns(60)});
});

test("text beyond the memory is refused", () => {
  const {length} = nodeText.text;
  assert.throws(() => nodeText.quote(0, 1, 64, length - 2 * 64), {name: "RuntimeError"});
});

test("a hash suite whose leaf openings are not whole vectors is refused", () => {
  const suite = {...sha256Suite, leafOpeningBytes: 136};
  assert.throws(() => new ProofText(suite, emptyTree(sha256Suite)), {
    name: "RangeError",
    message: "leaf openings of 136 bytes: not a multiple of 16",
  });
});
