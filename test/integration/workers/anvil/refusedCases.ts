/** Calls without an estimate, whose errors are compared with anvil's: what reverts, and what fails. */
import assert from "node:assert/strict";
import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {type AbiValue, encodeCreation, word} from "../../../../demo/abi.ts";
import {codeOf} from "../../../support/estimates/assembler.ts";
import type {CallObject} from "../../../support/estimates/callObject.ts";
import {POOR_BALANCE, people} from "./gasAccounts.ts";
import {type FailingCase, initcodeOf, type Kit, sign, transfer} from "./gasKit.ts";

const {alice, bob, poor, nobody, blocked} = people;

export function revertingCases({at, call, contracts, input}: Kit): readonly FailingCase[] {
  const revert = (title: string, call: CallObject, reason = ""): FailingCase => {
    return {title, call, code: 3, message: new RegExp(`^execution reverted${reason}$`)};
  };
  const refuse = (signature: string, ...values: AbiValue[]) => call("Refuser", signature, ...values);
  const gasPrice = call("Witness", "gasPrice()");
  return [
    revert("Error(string)", refuse("withReason(string)", "no, thank you"), ": no, thank you"),
    revert(
      "Error(string) beyond ASCII, long",
      refuse("withReason(string)", "näh ".repeat(100)),
      ": (näh ){100}",
    ),
    revert("no data", refuse("withoutData()")),
    revert("a custom error", refuse("custom()")),
    revert("data that is no error", refuse("raw(bytes)", Buffer.from("08c379a0ff", "hex"))),
    revert(
      "a reason that reaches past its end",
      refuse("raw(bytes)", Buffer.concat([Buffer.from("08c379a0", "hex"), word(32n), word(100n)])),
    ),
    revert("assert", refuse("assertFalse()"), ": panic: .*\\(0x0?1\\)"),
    revert("out of bounds", refuse("outOfBounds(uint256)", 1n), ": panic: .*\\(0x32\\)"),
    revert(
      "slots written and taken back",
      call("Ledger", "fillAndRevert(uint256,uint256,uint256)", 500n, 510n, 1n),
    ),
    revert("what code sees of the block", call("Witness", "ofBlock()")),
    revert("what code sees of the transaction", {...call("Witness", "ofTransaction()"), value: "0x5"}),
    revert("the gas price that is named", {...gasPrice, gasPrice: "0x123"}),
    revert("the gas price that caps make", {...gasPrice, maxFeePerGas: "0x123", maxPriorityFeePerGas: "0x3"}),
    revert("the gas price that a cap makes", {...gasPrice, maxFeePerGas: "0x9", maxPriorityFeePerGas: "0x9"}),
    revert("the gas price where none is named", gasPrice),
    revert(
      "a constructor's reason",
      {
        from: alice.address,
        data: encodeHex(encodeCreation(contracts.Demanding ?? assert.fail(), 100n)),
        value: "0x63",
      },
      ": too little",
    ),
    revert("a reason from a creation inside", call("Parent", "makeRefusing()"), ": the child refuses"),
    revert("a revert by authorization", {
      from: alice.address,
      to: bob.address,
      data: encodeHex(input("Refuser", "custom()")),
      authorizationList: [sign(bob, at("Refuser"), 0n)],
    }),
    {
      ...revert("a revert by override", transfer(bob.address, 1n)),
      overrides: {[bob.address]: {code: codeOf("PUSH1 0xaa PUSH0 MSTORE8 PUSH1 1 PUSH0 REVERT")}},
    },
  ];
}

export function failingCases({at, call}: Kit): readonly FailingCase[] {
  const fail = (title: string, call: CallObject, message: RegExp): FailingCase => {
    return {title, call, code: -32000, message};
  };
  const run = (title: string, code: string, message: RegExp, more: Partial<CallObject> = {}) => ({
    ...fail(title, {...transfer(bob.address, 0n), ...more}, message),
    overrides: {[bob.address]: {code: codeOf(code)}},
  });
  const LACKS_VALUE = /^insufficient funds for transfer/;
  const LACKS_FEE = /^insufficient funds for gas \* price \+ value/;
  return [
    run("an invalid opcode", "INVALID", /invalid/i),
    run("nothing on the stack", "ADD", /stack underflow/),
    run("a loop without end", "again: PUSH0 JUMP", /^gas required exceeds allowance \(1000000\)$/, {
      gas: quantity(1_000_000n),
    }),
    run(
      "memory without end, with all the gas that there is (EIP-7825)",
      "PUSH9 0xffffffffffffffffff MLOAD",
      /^gas required exceeds allowance \(16777216\)$/,
    ),
    fail(
      "more gas than is named",
      {...call("Ledger", "clear(uint256,uint256)", 0n, 30n), gas: quantity(50_000n)},
      /^gas required exceeds allowance \(50000\)$/,
    ),
    {
      ...fail(
        "less than a transaction takes",
        {...transfer(bob.address, 1n), gas: quantity(20_999n)},
        /21000 gas/,
      ),
      ignoredByAnvil: "eth_estimateGas",
    },
    fail(
      "less than the calldata takes",
      {...transfer(bob.address, 1n), data: encodeHex(Buffer.alloc(1000, 1)), gas: quantity(50_000n)},
      /61000 gas/,
    ),
    fail("a creation where code is", {from: blocked.address, data: encodeHex(initcodeOf(100))}, /collision/),
    fail(
      "49 153 bytes of initcode",
      {from: alice.address, data: encodeHex(Buffer.alloc(49_153))},
      /initcode/,
    ),
    fail(
      "more value than the sender has",
      {from: poor.address, to: at("Till"), value: quantity(POOR_BALANCE + 1n)},
      LACKS_VALUE,
    ),
    {
      ...fail(
        "more value than the sender has, to an account",
        {from: poor.address, to: bob.address, value: quantity(POOR_BALANCE + 1n)},
        LACKS_VALUE,
      ),
      ignoredByAnvil: "eth_estimateGas",
    },
    fail("value from who has none", {from: nobody.address, to: at("Till"), value: "0x1"}, LACKS_VALUE),
    fail(
      "a fee beyond the balance after the value",
      {
        from: poor.address,
        to: at("Till"),
        gasPrice: quantity(100n),
        value: quantity(POOR_BALANCE - 2_000_000n),
      },
      LACKS_FEE,
    ),
    fail(
      "a fee for less gas than the call takes",
      {from: poor.address, to: at("PiggyBank"), gasPrice: quantity(100n)},
      /^gas required exceeds allowance \(30000\)$/,
    ),
    {
      ...fail(
        "a fee cap below the base fee",
        {...transfer(at("Till"), 1n), maxFeePerGas: "0x6"},
        /^max fee per gas less than block base fee/,
      ),
      ignoredByAnvil: "both",
    },
  ];
}
