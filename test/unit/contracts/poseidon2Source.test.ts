/** The permutation for the EVM, evaluated line by line: no compiler, no chain. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {P, poseidon2} from "../../../client/hash/poseidon2.ts";
import {poseidon2Source} from "../../support/contracts/poseidon2Source.ts";

const WORD = 2n ** 256n - 1n;
const OPERATIONS: Readonly<Record<string, (a: bigint, b: bigint, c: bigint) => bigint>> = {
  add: (a, b) => (a + b) & WORD,
  sub: (a, b) => (a - b) & WORD,
  mul: (a, b) => (a * b) & WORD,
  mod: (a, b) => a % b,
  mulmod: (a, b, c) => (a * b) % c,
  and: (a, b) => a & b,
  shl: (a, b) => (b << a) & WORD,
  shr: (a, b) => b >> a,
};

/** A statement's name, and its tokens in reverse: an operation stands after its operands. */
const STATEMENTS = [...poseidon2Source().matchAll(/^ +(?:let )?(\w+) := (.+)$/gm)].map(
  ([, name, expression]) => [name as string, (expression as string).match(/\w+/g)?.reverse() ?? []] as const,
);

function compress(h: readonly bigint[], m: readonly bigint[]): bigint[] {
  const values = new Map<string, bigint>([
    ...h.map((x, i) => [`h${i}`, x] as const),
    ...m.map((x, i) => [`m${i}`, x] as const),
  ]);
  for (const [name, tokens] of STATEMENTS) {
    const stack: bigint[] = [];
    for (const token of tokens) {
      const operation = OPERATIONS[token];
      if (operation === undefined) stack.push(values.get(token) ?? BigInt(token));
      else {
        const operands = Array.from({length: operation.length}, () => stack.pop() as bigint);
        stack.push(operation(...(operands as [bigint, bigint, bigint])));
      }
    }
    assert.equal(stack.length, 1, name);
    values.set(name, stack[0] as bigint);
  }
  return [values.get("r0") as bigint, values.get("r1") as bigint];
}

/** Eight lanes in two words of 37-bit slots. */
function toSlots(lanes: readonly number[]): bigint[] {
  const join = (four: readonly number[]) => four.reduce((word, lane) => (word << 37n) + BigInt(lane), 0n);
  return [join(lanes.slice(0, 4)), join(lanes.slice(4))];
}

function toLanes(words: readonly bigint[]): number[] {
  return words.flatMap(word => [111n, 74n, 37n, 0n].map(bit => Number((word >> bit) & 0x1fffffffffn)));
}

function toBytes(lanes: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * lanes.length));
  for (const [i, lane] of lanes.entries()) view.setUint32(4 * i, lane);
  return new Uint8Array(view.buffer);
}

test("the permutation for the EVM hashes as client/ does, and keeps its lanes below 2^31.4", () => {
  const lane = fc.oneof(fc.constantFrom(0, 1, P - 2, P - 1), fc.nat(P - 1));
  const blocks = fc.array(fc.array(lane, {minLength: 8, maxLength: 8}), {minLength: 1, maxLength: 4});
  fc.assert(
    fc.property(blocks, message => {
      const lanes = toLanes(message.reduce((h, block) => compress(h, toSlots(block)), [0n, 0n]));
      assert.ok(lanes.every(x => x < 2 ** 31.4));
      assert.deepEqual(toBytes(lanes.map(x => x % P)), poseidon2(toBytes(message.flat())));
    }),
    {numRuns: 60, examples: [[Array(4).fill(Array(8).fill(P - 1))], [[Array(8).fill(0)]]]},
  );
});
