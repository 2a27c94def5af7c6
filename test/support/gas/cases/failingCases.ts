import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {codeOf} from "../../estimates/assembler.ts";
import {POOR_BALANCE, people} from "../gasAccounts.ts";
import {address, type FailingCase, initcodeOf, type Kit, transfer} from "../gasKit.ts";

const {alice, bob, poor, nobody, blocked} = people;

/** Bytes of input of one byte again and again that each precompile refuses. */
export const REFUSED_INPUT_BYTES: Readonly<Record<number, number>> = {
  6: 128,
  7: 96,
  8: 192,
  10: 192,
  11: 256,
  12: 160,
  13: 512,
  14: 288,
  15: 384,
  16: 64,
  17: 128,
};

export function failingCases({at, call}: Kit): readonly FailingCase[] {
  const failed = {code: -32000};
  return [
    {
      title: "an invalid opcode",
      call: transfer(bob.address, 0n),
      overrides: {[bob.address]: {code: codeOf("INVALID")}},
      ...failed,
      message: /invalid/i,
    },
    {
      title: "an opcode that there is not",
      call: transfer(bob.address, 0n),
      overrides: {[bob.address]: {code: "0x0c"}},
      ...failed,
      message: /invalid/i,
    },
    {
      title: "nothing on the stack",
      call: transfer(bob.address, 0n),
      overrides: {[bob.address]: {code: codeOf("ADD")}},
      ...failed,
      message: /stack underflow/,
    },
    {
      title: "a jump to nowhere",
      call: transfer(bob.address, 0n),
      overrides: {[bob.address]: {code: codeOf("PUSH0 JUMP")}},
      ...failed,
      message: /invalid jump/,
    },
    {
      title: "a loop without end",
      call: {...transfer(bob.address, 0n), gas: quantity(1_000_000n)},
      overrides: {[bob.address]: {code: codeOf("again: PUSH0 JUMP")}},
      ...failed,
      message: /^gas required exceeds allowance \(1000000\)$/,
    },
    {
      title: "memory without end, with all the gas that there is (EIP-7825)",
      call: transfer(bob.address, 0n),
      overrides: {[bob.address]: {code: codeOf("PUSH9 0xffffffffffffffffff MLOAD")}},
      ...failed,
      message: /^gas required exceeds allowance \(16777216\)$/,
    },
    {
      title: "return data past its end",
      call: transfer(bob.address, 0n),
      overrides: {[bob.address]: {code: codeOf("PUSH1 1 PUSH0 PUSH0 RETURNDATACOPY")}},
      ...failed,
      message: /./,
    },
    {
      title: "more gas than is named",
      call: {...call("Ledger", "clear(uint256,uint256)", 0n, 30n), gas: quantity(50_000n)},
      ...failed,
      message: /^gas required exceeds allowance \(50000\)$/,
    },
    {
      title: "less than a transaction takes",
      call: {...transfer(bob.address, 1n), gas: quantity(20_999n)},
      ...failed,
      message: /21000 gas/,
      ignoredByAnvil: "eth_estimateGas",
    },
    {
      title: "less than the calldata takes",
      call: {...transfer(bob.address, 1n), data: encodeHex(Buffer.alloc(1000, 1)), gas: quantity(50_000n)},
      ...failed,
      message: /61000 gas/,
    },
    ...[6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17].map(at => ({
      title: `precompile ${at} with input that is no point`,
      call: {
        from: alice.address,
        to: address(at),
        data: encodeHex(Buffer.alloc(REFUSED_INPUT_BYTES[at] ?? 0, 0x31)),
      },
      ...failed,
      message: /^the precompile refuses its input$|not in field|not on curve|kzg/,
    })),
    {
      title: "blake2f of a wrong length",
      call: {from: alice.address, to: address(9), data: "0x00"},
      ...failed,
      message: /./,
    },
    {
      title: "a creation where code is",
      call: {from: blocked.address, data: encodeHex(initcodeOf(100))},
      ...failed,
      message: /collision/,
    },
    {
      title: "a creation of 24 577 bytes",
      call: {from: alice.address, data: encodeHex(initcodeOf(24_577))},
      ...failed,
      message: /./,
    },
    {
      title: "49 153 bytes of initcode",
      call: {from: alice.address, data: encodeHex(Buffer.alloc(49_153))},
      ...failed,
      message: /initcode/,
    },
    {
      title: "a creation of code that begins with EF",
      call: {from: alice.address, data: codeOf("PUSH1 0xef PUSH0 MSTORE8 PUSH1 1 PUSH0 RETURN")},
      ...failed,
      message: /./,
    },
    {
      title: "more value than the sender has",
      call: {from: poor.address, to: at("Till"), value: quantity(POOR_BALANCE + 1n)},
      ...failed,
      message: /^insufficient funds for transfer/,
    },
    {
      title: "more value than the sender has, to an account",
      call: {from: poor.address, to: bob.address, value: quantity(POOR_BALANCE + 1n)},
      ...failed,
      message: /^insufficient funds for transfer/,
      ignoredByAnvil: "eth_estimateGas",
    },
    {
      title: "value from who has none",
      call: {from: nobody.address, to: at("Till"), value: "0x1"},
      ...failed,
      message: /^insufficient funds for transfer/,
    },
    {
      title: "a fee beyond the balance",
      call: {from: poor.address, to: at("Till"), gasPrice: quantity(1000n)},
      ...failed,
      message: /^insufficient funds for gas \* price \+ value/,
    },
    {
      title: "a fee beyond the balance after the value",
      call: {
        from: poor.address,
        to: at("Till"),
        gasPrice: quantity(100n),
        value: quantity(POOR_BALANCE - 2_000_000n),
      },
      ...failed,
      message: /^insufficient funds for gas \* price \+ value/,
    },
    {
      title: "a fee for less gas than the call takes",
      call: {from: poor.address, to: at("PiggyBank"), gasPrice: quantity(100n)},
      ...failed,
      message: /^gas required exceeds allowance \(30000\)$/,
    },
    {
      title: "a fee cap below the base fee",
      call: {...transfer(at("Till"), 1n), maxFeePerGas: "0x6"},
      ...failed,
      message: /^max fee per gas less than block base fee/,
      ignoredByAnvil: "both",
    },
  ];
}
