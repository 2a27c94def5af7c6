/** What each opcode costs and takes from the stack, from the yellow paper and the EIPs that added it. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {assemble, OP} from "../../../support/estimates/bytecode.ts";
import {EvmKit} from "../../../support/evm/evmKit.ts";

/** Opcode, words taken, words left, gas with zeros as words, first fork. */
type Row = readonly [opcode: number, taken: number, left: number, gas: number, since?: string];

const WORD_OF_MEMORY = 3;
const ROWS: readonly Row[] = [
  ...[0x01, 0x03, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c, 0x1d].map(
    (opcode): Row => [opcode, 2, 1, 3],
  ),
  ...[0x02, 0x04, 0x05, 0x06, 0x07, 0x0b].map((opcode): Row => [opcode, 2, 1, 5]),
  [0x08, 3, 1, 8],
  [0x09, 3, 1, 8],
  [0x0a, 2, 1, 10],
  [0x15, 1, 1, 3],
  [0x19, 1, 1, 3],
  [OP.CLZ, 1, 1, 5, "osaka"],
  [OP.KECCAK256, 2, 1, 30],
  ...[
    0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x58, 0x59, 0x5a,
  ].map((opcode): Row => [opcode, 0, 1, 2]),
  [OP.BALANCE, 1, 1, 2600],
  [OP.CALLDATALOAD, 1, 1, 3],
  [OP.CALLDATACOPY, 3, 0, 3],
  [OP.CODECOPY, 3, 0, 3],
  [OP.EXTCODESIZE, 1, 1, 2600],
  [OP.EXTCODECOPY, 4, 0, 2600],
  [OP.RETURNDATACOPY, 3, 0, 3],
  [OP.EXTCODEHASH, 1, 1, 2600],
  [OP.BLOCKHASH, 1, 1, 20],
  [OP.SELFBALANCE, 0, 1, 5],
  [OP.BASEFEE, 0, 1, 2, "london"],
  [0x49, 1, 1, 3, "cancun"],
  [OP.BLOBBASEFEE, 0, 1, 2, "cancun"],
  [OP.POP, 1, 0, 2],
  [OP.MLOAD, 1, 1, 3 + WORD_OF_MEMORY],
  [OP.MSTORE, 2, 0, 3 + WORD_OF_MEMORY],
  [OP.MSTORE8, 2, 0, 3 + WORD_OF_MEMORY],
  [OP.SLOAD, 1, 1, 2100],
  [OP.SSTORE, 2, 0, 2200],
  [OP.JUMPI, 2, 0, 10],
  [OP.JUMPDEST, 0, 0, 1],
  [OP.TLOAD, 1, 1, 100, "cancun"],
  [OP.TSTORE, 2, 0, 100, "cancun"],
  [OP.MCOPY, 3, 0, 3, "cancun"],
  [OP.PUSH0, 0, 1, 2, "shanghai"],
  ...Array.from({length: 32}, (_, at): Row => [0x60 + at, 0, 1, 3]),
  ...Array.from({length: 16}, (_, at): Row => [0x80 + at, at + 1, at + 2, 3]),
  ...Array.from({length: 16}, (_, at): Row => [0x90 + at, at + 2, at + 2, 3]),
  ...Array.from({length: 5}, (_, at): Row => [0xa0 + at, at + 2, 0, 375 + 375 * at]),
  [OP.CREATE, 3, 1, 32_000],
  [OP.CALL, 7, 1, 2600],
  [OP.CALLCODE, 7, 1, 2600],
  [OP.DELEGATECALL, 6, 1, 2600],
  [OP.CREATE2, 4, 1, 32_000],
  [OP.STATICCALL, 6, 1, 2600],
];

const STACK_LIMIT = 1024;

function zeros(count: number): Uint8Array {
  return assemble(...new Array<bigint>(count).fill(0n));
}

function checkRow(kit: EvmKit, [opcode, taken, left, gas, since = "berlin"]: Row): void {
  const body = assemble(opcode, new Uint8Array(opcode >= 0x60 && opcode < 0x80 ? opcode - 0x5f : 0));
  const code = assemble(zeros(taken), body);
  if (!kit.has(since)) {
    kit.expectFailure(code, {}, "invalidOpcode");
    return;
  }
  kit.expectGas(code, 3 * taken + gas);
  // One gas less is not enough.
  kit.expectFailure(code, {gas: BigInt(3 * taken + gas - 1)}, "outOfGas");
  if (taken > 0) kit.expectFailure(assemble(zeros(taken - 1), body), {}, "stackUnderflow");
  const grows = left - taken;
  kit.expectGas(
    assemble(zeros(STACK_LIMIT - Math.max(grows, 0)), body),
    3 * (STACK_LIMIT - Math.max(grows, 0)) + gas,
  );
  if (grows > 0) kit.expectFailure(assemble(zeros(STACK_LIMIT - grows + 1), body), {}, "stackOverflow");
}

/** Opcodes that end a frame or jump, which have cases of their own. */
const ENDS = new Set<number>([OP.STOP, OP.JUMP, OP.RETURN, OP.REVERT, OP.SELFDESTRUCT]);
/** Numbers that no fork gives a meaning. */
const NEVER = Array.from({length: 256}, (_, opcode) => opcode).filter(
  opcode => !ENDS.has(opcode) && !ROWS.some(([known]) => known === opcode),
);

for (const row of ROWS)
  test(`opcode 0x${row[0].toString(16)} takes ${row[1]} words, leaves ${row[2]} and costs ${row[3]} gas`, () =>
    EvmKit.each(kit => checkRow(kit, row)));

test("what no fork gives a meaning is invalid", () => {
  EvmKit.each(kit => {
    for (const opcode of NEVER) kit.expectFailure(assemble(zeros(20), opcode), {}, "invalidOpcode");
  });
});

test("JUMP costs 8 gas, and needs one word and a JUMPDEST outside of pushed bytes", () => {
  EvmKit.each(kit => {
    kit.expectGas(assemble(3n, OP.JUMP, OP.JUMPDEST), 3 + 8 + 1);
    kit.expectGas(assemble(1n, 5n, OP.JUMPI, OP.JUMPDEST), 3 + 3 + 10 + 1);
    kit.expectFailure(assemble(OP.JUMP), {}, "stackUnderflow");
    kit.expectFailure(assemble(4n, OP.JUMP, 0x60, OP.JUMPDEST));
    kit.expectFailure(assemble(1n, 6n, OP.JUMPI, 0x60, OP.JUMPDEST));
    kit.expectFailure(assemble(9n, OP.JUMP, OP.JUMPDEST));
    kit.expectFailure(assemble(3n + 2n ** 32n, OP.JUMP, OP.JUMPDEST, OP.JUMPDEST, OP.JUMPDEST));
    kit.expectFailure(assemble(2n ** 64n, OP.JUMP, OP.JUMPDEST));
  });
});

test("STOP, RETURN, REVERT and INVALID end with their gas", () => {
  EvmKit.each(kit => {
    kit.expectGas(assemble(OP.STOP, OP.INVALID), 0);
    kit.expectGas(assemble(0n, 0n, OP.RETURN), 6);
    const {end, gasUsed} = kit.run(assemble(0n, 0n, OP.REVERT));
    if (end !== "revert" || gasUsed !== 6n) throw new Error(`REVERT: got ${end} with ${gasUsed} gas`);
    kit.expectFailure(assemble(OP.INVALID));
    for (const opcode of [OP.RETURN, OP.REVERT])
      kit.expectFailure(assemble(0n, opcode), {}, "stackUnderflow");
    kit.expectFailure(assemble(OP.SELFDESTRUCT), {}, "stackUnderflow");
  });
});

test("EXP costs 50 gas for each byte of the exponent, from none to all 32", () => {
  EvmKit.each(kit => {
    for (const bytes of [0, 1, 2, 4, 8, 9, 31, 32]) {
      const highest = 256n ** BigInt(bytes) - 1n;
      kit.expectGas(assemble(highest, 2n, OP.EXP), 3 + 3 + 10 + 50 * bytes);
      if (bytes > 0) kit.expectGas(assemble(256n ** BigInt(bytes - 1), 2n, OP.EXP), 3 + 3 + 10 + 50 * bytes);
    }
  });
});

test("RETURNDATACOPY takes what was returned, and fails with the first byte beyond it", () => {
  const IDENTITY = 4n;
  EvmKit.each(kit => {
    const copies = (offset: bigint, size: bigint) =>
      assemble(0n, 0n, 2n, 0n, IDENTITY, 1000n, OP.STATICCALL, size, offset, 0n, OP.RETURNDATACOPY);
    for (const [offset, size] of [
      [0n, 2n],
      [1n, 1n],
      [2n, 0n],
    ] as const)
      assert.equal(kit.run(copies(offset, size)).end, "success");
    for (const [offset, size] of [
      [0n, 3n],
      [1n, 2n],
      [2n, 1n],
      [3n, 0n],
      [2n ** 64n, 0n],
      [2n ** 256n - 1n, 2n],
    ] as const)
      kit.expectFailure(copies(offset, size));
  });
});
