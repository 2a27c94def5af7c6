/** What memory, copies, hashes, logs and EXP cost by size: 3 gas a word of memory and words^2 / 512. */
import {assemble, OP, type Part} from "../../estimates/bytecode.ts";
import type {EvmKit, GasCase} from "../evmKit.ts";

const SIZES = [0, 1, 31, 32, 33, 64, 1000, 22_528, 23_552, 32_769];
const OFFSETS = [0, 1, 31, 32, 1000];

function words(bytes: number): number {
  return Math.ceil(bytes / 32);
}

function memoryGas(bytes: number): number {
  return 3 * words(bytes) + Math.floor(words(bytes) ** 2 / 512);
}

/** Memory up to the end of `size` bytes at `offset`. None for no bytes. */
function reach(offset: number, size: number): number {
  return size === 0 ? 0 : memoryGas(offset + size);
}

/** Pushes of numbers, 3 gas each, and an opcode. */
function code(opcode: number, ...pushed: readonly number[]): Uint8Array {
  return assemble(...pushed.map((value): Part => BigInt(value)), opcode);
}

function sweep(check: (kit: EvmKit, size: number, offset: number) => void): (kit: EvmKit) => void {
  return kit => {
    for (const size of SIZES) for (const offset of OFFSETS) check(kit, size, offset);
  };
}

function expectSized(
  opcode: number,
  gas: (size: number) => number,
  ...below: readonly number[]
): GasCase["check"] {
  return sweep((kit, size, offset) => {
    const pushes = 3 * (below.length + 2);
    kit.expectGas(code(opcode, ...below, size, offset), pushes + gas(size) + reach(offset, size));
  });
}

export const MEMORY_CASES: readonly GasCase[] = [
  {
    title: "KECCAK256 costs 30 gas and 6 a word",
    check: expectSized(OP.KECCAK256, size => 30 + 6 * words(size)),
  },
  {title: "RETURN costs its memory", check: expectSized(OP.RETURN, () => 0)},
  ...[0, 1, 2, 3, 4].map(topics => ({
    title: `LOG${topics} costs 375 gas, 375 a topic and 8 a byte`,
    check: expectSized(
      OP.LOG0 + topics,
      size => 375 + 375 * topics + 8 * size,
      ...new Array<number>(topics).fill(7),
    ),
  })),
  ...[OP.CALLDATACOPY, OP.CODECOPY].map(opcode => ({
    title: `the copy 0x${opcode.toString(16)} costs 3 gas and 3 a word`,
    check: sweep((kit, size, offset) => {
      kit.expectGas(code(opcode, size, 5, offset), 9 + 3 + 3 * words(size) + reach(offset, size));
    }),
  })),
  {
    title: "EXTCODECOPY costs 3 gas a word more than the access to the account",
    check: sweep((kit, size, offset) => {
      const gas = 12 + 3 * words(size) + reach(offset, size);
      kit.expectGas(code(OP.EXTCODECOPY, size, 5, offset, 0xacc0), gas + 2600);
      kit.expectGas(code(OP.EXTCODECOPY, size, 5, offset, 4), gas + 100);
    }),
  },
  {
    title: "MCOPY costs 3 gas and 3 a word, and the memory of both sides",
    since: "cancun",
    check: sweep((kit, size, offset) => {
      const gas = 9 + 3 + 3 * words(size) + reach(Math.max(offset, 500), size);
      kit.expectGas(code(OP.MCOPY, size, offset, 500), gas);
      kit.expectGas(code(OP.MCOPY, size, 500, offset), gas);
    }),
  },
  {
    title: "RETURNDATACOPY costs 3 gas and 3 a word, and fails beyond the data",
    check: kit => {
      // The identity precompile returns 64 bytes.
      const call = code(OP.STATICCALL, 0, 0, 64, 0, 4, 1000);
      const spent = 18 + 100 + memoryGas(64) + 15 + 3 * 2;
      for (const size of [0, 1, 32, 33, 64])
        kit.expectGas(assemble(call, code(OP.RETURNDATACOPY, size, 0, 0)), spent + 9 + 3 + 3 * words(size));
      for (const [size, from] of [
        [65, 0],
        [64, 1],
        [0, 65],
        [1, 64],
      ] as const)
        kit.expectFailure(assemble(call, code(OP.RETURNDATACOPY, size, from, 0)));
      kit.expectFailure(assemble(call, 1n, 2n ** 256n - 1n, 0n, OP.RETURNDATACOPY));
      kit.expectFailure(assemble(call, 2n ** 64n, 0n, 0n, OP.RETURNDATACOPY));
    },
  },
  {
    title: "MLOAD, MSTORE and MSTORE8 pay for the memory up to their last byte once",
    check: kit => {
      for (const at of [0, 1, 31, 32, 33, 1000, 22_497, 23_000]) {
        kit.expectGas(code(OP.MLOAD, at), 3 + 3 + memoryGas(at + 32));
        kit.expectGas(code(OP.MSTORE, 1, at), 6 + 3 + memoryGas(at + 32));
        kit.expectGas(code(OP.MSTORE8, 1, at), 6 + 3 + memoryGas(at + 1));
        const twice = assemble(code(OP.MSTORE, 1, at), code(OP.MLOAD, at), code(OP.MSIZE));
        const {end} = kit.expectGas(twice, 6 + 3 + memoryGas(at + 32) + 3 + 3 + 2);
        if (end !== "success") throw new Error(end);
      }
    },
  },
  {
    title: "memory beyond all gas is out of gas, for every opcode that reaches there",
    check: kit => {
      for (const far of [
        2n ** 32n - 1n,
        2n ** 32n,
        2n ** 63n,
        2n ** 64n - 32n,
        2n ** 64n,
        2n ** 128n,
        2n ** 256n - 1n,
      ]) {
        for (const opcode of [OP.MLOAD, OP.MSTORE, OP.MSTORE8]) kit.expectFailure(assemble(0n, far, opcode));
        for (const opcode of [OP.KECCAK256, OP.RETURN, OP.LOG0]) {
          kit.expectFailure(assemble(1n, far, opcode));
          kit.expectFailure(assemble(far, 0n, opcode));
          kit.run(assemble(0n, far, opcode)).end === "success" ||
            fail(`no bytes at ${far}: opcode ${opcode}`);
        }
        for (const opcode of [OP.CALLDATACOPY, OP.CODECOPY]) {
          kit.expectFailure(assemble(1n, 0n, far, opcode));
          kit.expectFailure(assemble(far, 0n, 0n, opcode));
          // Beyond the source are zeros.
          kit.expectGas(assemble(1n, far, 0n, opcode), 9 + 3 + 3 + 3);
        }
        if (!kit.has("cancun")) continue;
        for (const parts of [
          [1n, 0n, far],
          [1n, far, 0n],
          [far, 0n, 0n],
        ])
          kit.expectFailure(assemble(...parts, OP.MCOPY));
      }
    },
  },
  {
    title: "EXP costs 10 gas and 50 for each byte of the exponent",
    check: kit => {
      for (let bytes = 0; bytes <= 32; bytes++) {
        const [least, most] =
          bytes === 0 ? [0n, 0n] : [256n ** BigInt(bytes - 1), 256n ** BigInt(bytes) - 1n];
        for (const exponent of [least, most])
          kit.expectGas(assemble(exponent, 3n, OP.EXP), 6 + 10 + 50 * bytes);
      }
    },
  },
  {
    title: "EIP-7939: CLZ counts zeros",
    since: "osaka",
    check: kit => {
      for (let bit = 0; bit <= 256; bit++) {
        const value = bit === 0 ? 0n : 2n ** BigInt(bit - 1);
        const {word} = kit.run(assemble(value, OP.CLZ, 0n, OP.MSTORE, 32n, 0n, OP.RETURN));
        if (word !== BigInt(256 - bit)) fail(`2^${bit - 1}: got ${word}`);
      }
    },
  },
];

function fail(message: string): never {
  throw new Error(message);
}
