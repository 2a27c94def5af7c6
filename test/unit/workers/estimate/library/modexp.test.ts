/** The modexp precompile against the library's own, and against figures of the EIPs. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {Common, Mainnet} from "@ethereumjs/common";
import {
  type EVM,
  type ExecResult,
  getActivePrecompiles,
  type PrecompileFunc,
  paramsEVM,
} from "@ethereumjs/evm";
import fc from "fast-check";
import {Deadline} from "../../../../../workers/estimate/call/deadline.ts";
import {createModexp} from "../../../../../workers/estimate/library/modexp.ts";
import {propertyRuns} from "../../../../support/soak.ts";

const HARDFORKS = ["byzantium", "istanbul", "berlin", "prague", "osaka"];
const MODEXP = "05".padStart(40, "0");
const commons = new Map(
  HARDFORKS.map(hardfork => [hardfork, new Common({chain: Mainnet, hardfork, params: paramsEVM})]),
);

const word = (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(64, "0"), "hex");

function run(
  precompile: PrecompileFunc,
  hardfork: string,
  data: Uint8Array,
  gasLimit: bigint,
): {gas: bigint; returned: string; error: string | undefined} {
  const common = commons.get(hardfork) ?? assert.fail();
  const input = {data, gasLimit, common, _EVM: undefined as unknown as EVM, stateManager: undefined as never};
  const {executionGasUsed, returnValue, exceptionError} = precompile(input) as ExecResult;
  return {
    gas: executionGasUsed,
    returned: Buffer.from(returnValue).toString("hex"),
    error: exceptionError?.error,
  };
}

function createOwn(limitMs = 60_000): PrecompileFunc {
  const deadline = new Deadline(limitMs);
  deadline.start();
  return createModexp(deadline);
}

function libraryOf(hardfork: string): PrecompileFunc {
  const precompiles = getActivePrecompiles(commons.get(hardfork) ?? assert.fail());
  return precompiles.get(MODEXP) ?? assert.fail();
}

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

test("price, result and failure are the library's for every input, whole or cut off, under every price", () => {
  const inputs = fc.record({base: length, exponent: length, modulus: length}).chain(lengths =>
    fc.record({
      lengths: fc.constant(lengths),
      operands: fc.tuple(operand(lengths.base), operand(lengths.exponent), operand(lengths.modulus)),
      cut: fc.option(fc.nat(200)),
      hardfork: fc.constantFrom(...HARDFORKS),
      gasLimit: fc.oneof({weight: 5, arbitrary: fc.constant(10n ** 9n)}, fc.bigInt({min: 0n, max: 3000n})),
    }),
  );
  fc.assert(
    fc.property(inputs, ({lengths, operands, cut, hardfork, gasLimit}) => {
      const heads = [lengths.base, lengths.exponent, lengths.modulus].map(bytes => word(BigInt(bytes)));
      const whole = Buffer.concat([...heads, ...operands]);
      const data = new Uint8Array(whole.subarray(0, whole.length - Math.min(cut ?? 0, whole.length)));
      assert.deepEqual(
        run(createOwn(), hardfork, data, gasLimit),
        run(libraryOf(hardfork), hardfork, data, gasLimit),
      );
    }),
    {numRuns: propertyRuns(100)},
  );
});

test("lengths beyond all bounds cost more gas than there is", () => {
  const huge = [2n ** 32n, 2n ** 64n, 2n ** 256n - 1n];
  for (const hardfork of HARDFORKS)
    for (const base of [0n, 1n, ...huge])
      for (const exponent of [0n, 1n, ...huge])
        for (const modulus of [0n, 1n, ...huge]) {
          if ([base, exponent, modulus].every(bytes => bytes < 2n)) continue;
          const data = Buffer.concat([base, exponent, modulus].map(word));
          const got = run(createOwn(), hardfork, data, 50_000_000n);
          if (base === 0n && modulus === 0n && hardfork !== "osaka")
            assert.deepEqual([got.returned, got.error], ["", undefined]);
          else assert.deepEqual([got.gas, got.error], [50_000_000n, "out of gas"]);
        }
});

test("EIP-198's first example is 1 for 13056 gas, and 1360 since EIP-2565", () => {
  // 3 ** (p - 1) mod p with p = 2^256 - 2^32 - 977; an exponent of 256 bits: 255 steps after the first.
  const prime = 2n ** 256n - 2n ** 32n - 977n;
  const data = Buffer.concat([
    word(1n),
    word(32n),
    word(32n),
    Uint8Array.of(3),
    word(prime - 1n),
    word(prime),
  ]);
  // 255 * 32^2 / 20 = 13056; 255 * (32 / 8)^2 / 3 = 1360; 255 * 16 = 4080 with EIP-7883.
  for (const [hardfork, gas] of [
    ["byzantium", 13056n],
    ["berlin", 1360n],
    ["osaka", 4080n],
  ] as const)
    assert.deepEqual(run(createOwn(), hardfork, data, 50_000_000n), {
      gas,
      returned: "01".padStart(64, "0"),
      error: undefined,
    });
});

test("the time limit stops an exponent of 4 MB in the middle", () => {
  const data = Buffer.concat([
    ...[1n, 4_000_000n, 1n].map(word),
    Uint8Array.of(2),
    new Uint8Array(4_000_001).fill(0xff),
  ]);
  const start = process.cpuUsage();
  assert.throws(() => run(createOwn(50), "berlin", data, 50_000_000n), {name: "TimeLimitError", limitMs: 50});
  const {user, system} = process.cpuUsage(start);
  assert.ok(user + system < 550_000);
});
