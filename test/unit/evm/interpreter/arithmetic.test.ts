/** Every opcode that computes, on values at which carries, borrows, signs and digits of quotients change, against bigint. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {assemble, OP} from "../../../support/estimates/bytecode.ts";
import {EvmKit} from "../../../support/evm/evmKit.ts";
import {propertyRuns} from "../../../support/soak.ts";

const BITS = 256n;
const MODULUS = 2n ** BITS;
const unsigned = (value: bigint): bigint => BigInt.asUintN(256, value);
const signed = (value: bigint): bigint => BigInt.asIntN(256, value);
const flag = (value: boolean): bigint => (value ? 1n : 0n);

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let bit = BITS - 1n; bit >= 0n; bit--) {
    result = (result * result) % MODULUS;
    if ((exponent >> bit) & 1n) result = (result * base) % MODULUS;
  }
  return result;
}

/** The first operand is the one on top. */
const BINARY: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  1: (a, b) => a + b,
  2: (a, b) => a * b,
  3: (a, b) => a - b,
  4: (a, b) => (b === 0n ? 0n : a / b),
  5: (a, b) => (b === 0n ? 0n : signed(a) / signed(b)),
  6: (a, b) => (b === 0n ? 0n : a % b),
  7: (a, b) => (b === 0n ? 0n : signed(a) % signed(b)),
  10: power,
  11: (a, b) => (a > 30n ? b : BigInt.asIntN(Number(8n * a + 8n), b)),
  16: (a, b) => flag(a < b),
  17: (a, b) => flag(a > b),
  18: (a, b) => flag(signed(a) < signed(b)),
  19: (a, b) => flag(signed(a) > signed(b)),
  20: (a, b) => flag(a === b),
  22: (a, b) => a & b,
  23: (a, b) => a | b,
  24: (a, b) => a ^ b,
  26: (a, b) => (a > 31n ? 0n : (b >> (248n - 8n * a)) & 255n),
  27: (a, b) => (a > 255n ? 0n : b << a),
  28: (a, b) => (a > 255n ? 0n : b >> a),
  29: (a, b) => signed(b) >> (a > 255n ? 255n : a),
};
const TERNARY: Readonly<Record<number, (a: bigint, b: bigint, c: bigint) => bigint>> = {
  8: (a, b, c) => (c === 0n ? 0n : (a + b) % c),
  9: (a, b, c) => (c === 0n ? 0n : (a * b) % c),
};
const UNARY: Readonly<Record<number, (a: bigint) => bigint>> = {
  21: a => flag(a === 0n),
  25: a => ~a,
  30: a => BigInt(a === 0n ? 256 : 256 - a.toString(2).length),
};

const EDGES = [
  ...[0n, 1n, 2n, 3n, 7n, 30n, 31n, 32n, 127n, 128n, 254n, 255n, 256n, 257n],
  ...[64n, 128n, 192n, 255n].flatMap(bits => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]),
  ...[1n, 2n, 3n, 2n ** 64n, 2n ** 128n].map(value => unsigned(-value)),
];
const kit = new EvmKit("osaka");

function compute(opcode: number, operands: readonly bigint[]): bigint {
  const {word, end} = kit.run(assemble(...operands.toReversed(), opcode, 0n, OP.MSTORE, 32n, 0n, OP.RETURN));
  assert.equal(end, "success");
  return word;
}

function check(
  opcode: number,
  formula: (...operands: bigint[]) => bigint,
  operands: readonly bigint[],
): void {
  const where = `0x${opcode.toString(16)} of ${operands.map(value => `0x${value.toString(16)}`)}`;
  assert.equal(compute(opcode, operands), unsigned(formula(...operands)), where);
}

const all = [UNARY, BINARY, TERNARY].flatMap((table, at) =>
  Object.entries(table).map(([opcode, formula]) => ({opcode: Number(opcode), formula, operands: at + 1})),
);

for (const {opcode, formula, operands} of all) {
  const name = `0x${opcode.toString(16)}`;
  test(`opcode ${name} computes what bigint does on edge values`, () => {
    const values = operands > 2 ? EDGES.filter((_, at) => at % 3 === 0) : EDGES;
    for (const a of values)
      for (const b of operands > 1 ? values : [0n])
        for (const c of operands > 2 ? values : [0n]) check(opcode, formula, [a, b, c].slice(0, operands));
  });
}

/** Words of digits at which long division guesses wrong. */
const digit = fc.oneof(
  fc.constantFrom(
    0n,
    1n,
    2n ** 63n,
    2n ** 63n - 1n,
    2n ** 64n - 1n,
    2n ** 64n - 2n,
    2n ** 32n,
    2n ** 32n - 1n,
  ),
  fc.bigInt({min: 0n, max: 2n ** 64n - 1n}),
);
const word = fc
  .array(digit, {minLength: 1, maxLength: 4})
  .map(digits => digits.reduce((sum, one) => (sum << 64n) + one, 0n));

test("every opcode computes what bigint does on words of awkward digits", () => {
  fc.assert(
    fc.property(fc.constantFrom(...all), word, word, word, ({opcode, formula, operands}, ...values) => {
      check(opcode, formula, values.slice(0, operands));
    }),
    {numRuns: propertyRuns(3000)},
  );
});
