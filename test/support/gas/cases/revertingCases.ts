/** Calls whose code reverts, and what they revert with. */

import assert from "node:assert/strict";
import {encodeHex} from "../../../../client/bytes/hex.ts";
import {encodeCreation, word} from "../../../../demo/abi.ts";
import {codeOf} from "../../estimates/assembler.ts";
import {people} from "../gasAccounts.ts";
import {type FailingCase, type Kit, sign, transfer} from "../gasKit.ts";

const {alice, bob, poor} = people;

export function revertingCases({at, call, contracts}: Kit): readonly FailingCase[] {
  const revert = {code: 3, message: /^execution reverted$/};
  return [
    {
      title: "Error(string)",
      call: call("Refuser", "withReason(string)", "no, thank you"),
      code: 3,
      message: /^execution reverted: no, thank you$/,
    },
    {
      title: "Error(string) beyond ASCII, long",
      call: call("Refuser", "withReason(string)", "näh ".repeat(100)),
      code: 3,
      message: /^execution reverted: (näh ){100}$/,
    },
    {
      title: "an empty reason",
      call: call("Refuser", "withReason(string)", ""),
      code: 3,
      message: /^execution reverted: $/,
    },
    {title: "no data", call: call("Refuser", "withoutData()"), ...revert},
    {
      title: "no such method",
      call: {from: alice.address, to: at("Refuser"), data: "0x12345678"},
      ...revert,
    },
    {title: "a custom error", call: call("Refuser", "custom()"), ...revert},
    {
      title: "data that is no error",
      call: call("Refuser", "raw(bytes)", Buffer.from("08c379a0ff", "hex")),
      ...revert,
    },
    {
      title: "a reason that reaches past its end",
      call: call(
        "Refuser",
        "raw(bytes)",
        Buffer.concat([Buffer.from("08c379a0", "hex"), word(32n), word(100n)]),
      ),
      ...revert,
    },
    {
      title: "assert",
      call: call("Refuser", "assertFalse()"),
      code: 3,
      message: /^execution reverted: panic: .*\(0x0?1\)$/,
    },
    {
      title: "overflow",
      call: call("Refuser", "overflow(uint256)", 1n),
      code: 3,
      message: /panic: arithmetic underflow or overflow \(0x11\)$/,
    },
    {
      title: "division by zero",
      call: call("Refuser", "divide(uint256)", 0n),
      code: 3,
      message: /panic: division or modulo by zero \(0x12\)$/,
    },
    {
      title: "out of bounds",
      call: call("Refuser", "outOfBounds(uint256)", 1n),
      code: 3,
      message: /panic: .*\(0x32\)$/,
    },
    {title: "popping nothing", call: call("Refuser", "pop()"), code: 3, message: /panic: .*\(0x31\)$/},
    {
      title: "a token that has too little",
      call: {...call("Token", "transfer(address,uint256)", bob.address, 1n), from: poor.address},
      ...revert,
    },
    {
      title: "slots written and taken back",
      call: call("Ledger", "fillAndRevert(uint256,uint256,uint256)", 500n, 510n, 1n),
      ...revert,
    },
    {title: "what code sees of the block", call: call("Witness", "ofBlock()"), ...revert},
    {
      title: "what code sees of the transaction",
      call: {...call("Witness", "ofTransaction()"), value: "0x5"},
      ...revert,
    },
    {
      title: "the gas price that is named",
      call: {...call("Witness", "gasPrice()"), gasPrice: "0x123"},
      ...revert,
    },
    {
      title: "the gas price that caps make",
      call: {...call("Witness", "gasPrice()"), maxFeePerGas: "0x123", maxPriorityFeePerGas: "0x3"},
      ...revert,
    },
    {
      title: "the gas price that a cap makes",
      call: {...call("Witness", "gasPrice()"), maxFeePerGas: "0x9", maxPriorityFeePerGas: "0x9"},
      ...revert,
    },
    {title: "the gas price where none is named", call: call("Witness", "gasPrice()"), ...revert},
    {
      title: "a constructor's reason",
      call: {
        from: alice.address,
        data: encodeHex(encodeCreation(contracts.Demanding ?? assert.fail(), 100n)),
        value: "0x63",
      },
      code: 3,
      message: /^execution reverted: too little$/,
    },
    {
      title: "a reason from a creation inside",
      call: call("Parent", "makeRefusing()"),
      code: 3,
      message: /^execution reverted: the child refuses$/,
    },
    {
      title: "ether for a method that takes none",
      call: {...call("Ledger", "clear(uint256,uint256)", 0n, 1n), value: "0x1"},
      ...revert,
    },
    {
      title: "a revert by authorization",
      call: {
        from: alice.address,
        to: bob.address,
        data: call("Refuser", "custom()").data ?? "",
        authorizationList: [sign(bob, at("Refuser"), 0n)],
      },
      ...revert,
    },
    {
      title: "a revert by override",
      call: transfer(bob.address, 1n),
      overrides: {[bob.address]: {code: codeOf("PUSH1 0xaa PUSH0 MSTORE8 PUSH1 1 PUSH0 REVERT")}},
      ...revert,
    },
  ];
}
