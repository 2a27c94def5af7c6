import assert from "node:assert/strict";
import {test} from "node:test";
import {codeOf} from "../../support/estimates/assembler.ts";

test("mnemonics become opcodes, and a push takes the number or the label behind it", () => {
  assert.equal(codeOf("PUSH1 1 PUSH2 0x1ff PUSH0 SSTORE STOP"), "0x60016101ff5f5500");
  assert.equal(
    codeOf("PUSH1 3 again: DUP1 PUSH1 done JUMPI PUSH1 again JUMP done: STOP"),
    "0x60035b80600a576002565b00",
  );
});

test("a word that is no opcode is refused", () => {
  assert.throws(() => codeOf("PUSH1 1 JUMPS"), /no opcode JUMPS/);
  assert.throws(() => codeOf("PUSH1 nowhere JUMP"), /nowhere/);
});
