/** Precompiles against the library's own: those that the published tests (integration/workers/executionTests.test.ts) do not cover whole. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {before, test} from "node:test";
import {createEVM, type EVM} from "@ethereumjs/evm";
import {bls12_381} from "@noble/curves/bls12-381.js";
import {bn254} from "@noble/curves/bn254.js";
import {secp256k1} from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import {word} from "../../../../../client/hash/hashSuites.ts";
import {CURVE_PRECOMPILES} from "../../../../../evm/interpreter/precompiles/curvePrecompiles.ts";
import {type PartTime, runPrecompile} from "../../../../../evm/interpreter/precompiles/precompile.ts";
import {QUICK_PRECOMPILES} from "../../../../../evm/interpreter/precompiles/quickPrecompiles.ts";
import {blsField, blsG1, blsG2, bnG1, bnG2} from "../../../../support/estimates/curvePoints.ts";
import {createCommon} from "../../../../support/estimates/hardforks.ts";
import {propertyRuns} from "../../../../support/soak.ts";

function precompileInputs(): readonly (readonly [string, number, Uint8Array])[] {
  const minus2OfBls = bls12_381.fields.Fr.ORDER - 2n;
  const minus2 = bn254.fields.Fr.ORDER - 2n;
  return [
    ["ecrecover", 1, recoverable()],
    ["ecrecover of nothing", 1, new Uint8Array(0)],
    ["sha256", 2, Buffer.alloc(100, 1)],
    ["ripemd160", 3, Buffer.alloc(100, 1)],
    ["modexp, 256 bytes to 256 bytes", 5, modexp(256, 256, 256)],
    ["modexp, 1024 bytes to 1 byte", 5, modexp(1024, 1, 1024)],
    ["modexp of nothing", 5, new Uint8Array(0)],
    ["bn254 addition", 6, Buffer.concat([bnG1(2n), bnG1(3n)])],
    ["bn254 multiplication", 7, Buffer.concat([bnG1(2n), word(77n)])],
    ["bn254 pairing", 8, Buffer.concat([bnG1(2n), bnG2(1n), bnG1(minus2), bnG2(1n)])],
    ["bn254 pairing of nothing", 8, new Uint8Array(0)],
    ["blake2f, 12 rounds", 9, blake(12)],
    ["blake2f, 20 000 rounds", 9, blake(20_000)],
    ["bls12-381 G1 addition", 0x0b, Buffer.concat([blsG1(2n), blsG1(3n)])],
    ["bls12-381 sum of a point outside of G1", 0x0c, Buffer.concat([blsField(0n), blsField(2n), word(5n)])],
    ["bls12-381 G2 sum of 2", 0x0e, Buffer.concat([2n, 3n].map(n => Buffer.concat([blsG2(n), word(n)])))],
    ["bls12-381 pairing", 0x0f, Buffer.concat([blsG1(2n), blsG2(1n), blsG1(minus2OfBls), blsG2(1n)])],
  ];
}

/** Hash, v, r, s. */
function recoverable(): Uint8Array {
  const hash = Buffer.alloc(32, 0x11);
  const signature = secp256k1.sign(hash, Buffer.alloc(32, 7), {prehash: false, format: "recovered"});
  const [recovery = 0, ...rs] = signature;
  return Buffer.concat([hash, word(BigInt(27 + recovery)), Buffer.from(rs)]);
}

/** Lengths in bytes; every byte of the numbers is 0xf1. */
function modexp(base: number, exponent: number, modulus: number): Uint8Array {
  const lengths = [base, exponent, modulus].map(length => word(BigInt(length)));
  return Buffer.concat([...lengths, Buffer.alloc(base + exponent + modulus, 0xf1)]);
}

/** EIP-152: rounds, state, message, offset, final. */
function blake(rounds: number): Uint8Array {
  const input = Buffer.alloc(213, 3);
  input.writeUInt32BE(rounds);
  input[212] = 1;
  return input;
}

/** The polynomial is constant 3: its commitment is [3]G1, its proof is at infinity. */
function provenPoint(): Uint8Array {
  const commitment = bls12_381.G1.Point.BASE.multiply(3n).toBytes(true);
  const hash = createHash("sha256").update(commitment).digest();
  hash[0] = 1;
  const infinity = Uint8Array.of(0xc0, ...new Uint8Array(47));
  return Buffer.concat([hash, word(5n), word(3n), commitment, infinity]);
}

const HARDFORKS = ["berlin", "prague", "osaka"] as const;
type Hardfork = (typeof HARDFORKS)[number];
const MODEXP = 5;
const LAST_OF_BERLIN = 9;
const MUCH_GAS = 10n ** 9n;

/** "refused": all gas is gone. */
type Outcome = {readonly gas: bigint; readonly returned: string} | "refused";

const libraries = new Map<Hardfork, EVM>();

before(async () => {
  for (const fork of HARDFORKS) libraries.set(fork, await createEVM({common: createCommon(fork, 1n)}));
});

function begin(fork: Hardfork, address: number, data: Uint8Array, gas: bigint) {
  const precompile = QUICK_PRECOMPILES[address] ?? CURVE_PRECOMPILES[address] ?? assert.fail();
  return runPrecompile(precompile, data, gas, fork === "osaka");
}

function run(fork: Hardfork, address: number, data: Uint8Array, gas: bigint): Outcome {
  const parts = begin(fork, address, data, gas);
  let part = parts.next();
  while (part.done !== true) part = parts.next();
  const answer = part.value;
  if (answer === "failed" || answer === "outOfGas") return "refused";
  return {gas: answer.gas, returned: Buffer.from(answer.output).toString("hex")};
}

async function runInLibrary(
  fork: Hardfork,
  address: number,
  data: Uint8Array,
  gas: bigint,
): Promise<Outcome> {
  const evm = libraries.get(fork) ?? assert.fail();
  const precompile = evm.getPrecompile(`0x${address.toString(16).padStart(40, "0")}`) ?? assert.fail();
  const result = await precompile({data, gasLimit: gas, common: evm.common, _EVM: evm});
  if (result.exceptionError !== undefined) return "refused";
  return {gas: result.executionGasUsed, returned: Buffer.from(result.returnValue).toString("hex")};
}

async function assertSame(fork: Hardfork, address: number, data: Uint8Array, gas: bigint): Promise<Outcome> {
  const expected = await runInLibrary(fork, address, data, gas);
  assert.deepEqual(run(fork, address, data, gas), expected, `${fork}, ${address}, ${gas} gas: ${hex(data)}`);
  return expected;
}

function hex(data: Uint8Array): string {
  return Buffer.from(data).toString("hex");
}

for (const [title, address, input] of precompileInputs())
  test(`${title}: price, result and refusal are the library's, also cut off, longer, changed, and with too little gas`, async () => {
    const data = new Uint8Array(input);
    for (const fork of address > LAST_OF_BERLIN ? (["prague", "osaka"] as const) : HARDFORKS) {
      const whole = await assertSame(fork, address, data, MUCH_GAS);
      if (whole !== "refused")
        for (const gas of [whole.gas, whole.gas - 1n]) await assertSame(fork, address, data, gas);
    }
    const changed = fc.record({
      cut: fc.option(fc.nat(data.length), {freq: 1}),
      more: fc.oneof(fc.constant(new Uint8Array(0)), fc.uint8Array({maxLength: 200})),
      at: fc.nat(Math.max(0, data.length - 1)),
      bytes: fc.oneof(fc.constant(0), fc.constant(0xff), fc.nat(255)),
      length: fc.constantFrom(0, 1, 32, 64),
    });
    await fc.assert(
      fc.asyncProperty(changed, async ({cut, more, at, bytes, length}) => {
        const copy = new Uint8Array(
          Buffer.concat(
            [data.subarray(0, cut ?? data.length), cut === null ? more : []].map(part =>
              Uint8Array.from(part),
            ),
          ),
        );
        copy.fill(bytes, at, at + length);
        await assertSame("osaka", address, copy, 10_000_000n);
      }),
      {numRuns: propertyRuns(6)},
    );
  });

const length = fc.oneof(
  {weight: 8, arbitrary: fc.nat(40)},
  fc.constantFrom(31, 32, 33, 63, 64, 65, 96, 130, 1023, 1024, 1025, 1100),
);
const operand = (bytes: number) =>
  fc.oneof(
    fc.uint8Array({minLength: bytes, maxLength: bytes}),
    fc.constant(new Uint8Array(bytes)),
    fc.constant(new Uint8Array(bytes).fill(0xff)),
    fc.nat(bytes).map(at => new Uint8Array(bytes).fill(1, at, at + 1)),
  );

test("modexp: price, result and refusal are the library's for every input, whole or cut off, under every price", async () => {
  const inputs = fc.record({base: length, exponent: length, modulus: length}).chain(lengths =>
    fc.record({
      lengths: fc.constant(lengths),
      operands: fc.tuple(operand(lengths.base), operand(lengths.exponent), operand(lengths.modulus)),
      cut: fc.option(fc.nat(200)),
      hardfork: fc.constantFrom(...HARDFORKS),
      gas: fc.oneof({weight: 5, arbitrary: fc.constant(MUCH_GAS)}, fc.bigInt({min: 0n, max: 3000n})),
    }),
  );
  await fc.assert(
    fc.asyncProperty(inputs, async ({lengths, operands, cut, hardfork, gas}) => {
      const heads = [lengths.base, lengths.exponent, lengths.modulus].map(bytes => word(BigInt(bytes)));
      const whole = Buffer.concat([...heads, ...operands]);
      const data = new Uint8Array(whole.subarray(0, whole.length - Math.min(cut ?? 0, whole.length)));
      await assertSame(hardfork, MODEXP, data, gas);
    }),
    {numRuns: propertyRuns(40)},
  );
});

test("modexp: lengths beyond all bounds cost more gas than there is", () => {
  const huge = [2n ** 32n, 2n ** 64n, 2n ** 256n - 1n];
  for (const hardfork of HARDFORKS)
    for (const base of [0n, 1n, ...huge])
      for (const exponent of [0n, 1n, ...huge])
        for (const modulus of [0n, 1n, ...huge]) {
          if ([base, exponent, modulus].every(bytes => bytes < 2n)) continue;
          const data = Buffer.concat([base, exponent, modulus].map(word));
          const got = run(hardfork, MODEXP, data, 50_000_000n);
          if (base === 0n && modulus === 0n && hardfork !== "osaka")
            assert.ok(got !== "refused" && got.returned === "");
          else assert.equal(got, "refused");
        }
});

const times = (count: number, ...parts: readonly Uint8Array[]) =>
  Buffer.concat(Array.from({length: count}, () => parts).flat());

/** By title: the address, the input, the number of pauses at least, and what comes after them. */
const IN_PARTS: Readonly<Record<string, readonly [number, Uint8Array, number, PartTime]>> = {
  // 13 multiplications for a byte: of 8 bytes 60 ns each, of 1 KB 40 us, of 50 KB 10 ms.
  "modexp with a long exponent": [MODEXP, modexp(8, 4000, 8), 13, "short"],
  "modexp of 1 KB": [MODEXP, modexp(1024, 64, 1024), 208, "short"],
  "modexp of 50 KB": [MODEXP, modexp(50_000, 1, 50_000), 13, "long"],
  "blake2f, 100 000 rounds": [9, blake(100_000), 48, "short"],
  "bn254 pairing of 5": [8, times(5, bnG1(2n), bnG2(1n)), 8, "long"],
  "point evaluation": [10, provenPoint(), 1, "long"],
  "bls12-381 G1 sum of 3": [0x0c, times(3, blsG1(2n), word(7n)), 3, "long"],
  "bls12-381 G2 sum of 3": [0x0e, times(3, blsG2(2n), word(7n)), 3, "long"],
  "bls12-381 pairing of 3": [0x0f, times(3, blsG1(2n), blsG2(1n)), 5, "long"],
  "bls12-381 map to G2": [0x11, Buffer.concat([blsField(2n), blsField(3n)]), 1, "long"],
};

for (const [title, [address, data, count, time]] of Object.entries(IN_PARTS))
  test(`${title} is worked on in parts, between which others may work`, () => {
    const parts = begin("prague", address, new Uint8Array(data), MUCH_GAS);
    const pauses: PartTime[] = [];
    let part = parts.next();
    for (; part.done !== true; part = parts.next()) pauses.push(part.value);
    assert.equal(typeof part.value, "object", "it has an output");
    assert.ok(pauses.length >= count && pauses.length <= count + 1, `${pauses.length} pauses`);
    assert.ok(pauses.every(one => one === time));
  });
