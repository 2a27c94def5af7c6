/** Opcodes and precompiles that have prices of their own. */

import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {codeOf} from "../../estimates/assembler.ts";
import {precompileInputs} from "../../estimates/precompileInputs.ts";
import {people} from "../gasAccounts.ts";
import {BENEFICIARY} from "../gasChain.ts";
import {address, type GasCase, type Kit, NEW_HOLDER, transfer} from "../gasKit.ts";

const {alice, dave} = people;

export function opcodeCases({at, call}: Kit): readonly GasCase[] {
  return [
    {title: "transient storage", call: call("Slots", "transient_(uint256)", 50n)},
    {title: "transient storage across calls", call: call("Slots", "transientAcrossCalls(bool)", true)},
    ...[0n, 1n, 2n, 3n, 4n].map(topics => ({
      title: `LOG${topics}`,
      call: call("Logger", "log(uint256,uint256)", topics, 100n * topics),
    })),
    {title: "a log of 10 000 bytes", call: call("Logger", "log(uint256,uint256)", 1n, 10_000n)},
    {title: "memory of 1 MB", call: call("Memory", "expand(uint256)", 1n << 20n)},
    {title: "memory copied and hashed", call: call("Memory", "copy(uint256)", 20_000n)},
    {
      title: "accounts looked at",
      call: call("Memory", "inspect(address[])", [
        at("Token"),
        at("Token"),
        alice.address,
        NEW_HOLDER,
        dave.address,
        address(5),
      ]),
    },
    {
      title: "the beneficiary looked at: warm",
      call: call("Memory", "inspect(address[])", [BENEFICIARY]),
    },
    {
      title: "transient storage is empty at the beginning of every run",
      call: transfer(NEW_HOLDER, 0n),
      overrides: {
        [NEW_HOLDER]: {
          code: codeOf("PUSH0 TLOAD PUSH1 found JUMPI PUSH1 1 PUSH0 TSTORE STOP found: PUSH0 PUSH0 REVERT"),
        },
      },
    },
    {
      title: "a created account is gone at the beginning of every run",
      // CREATE2 of nothing; reverts where there is something.
      call: {...transfer(NEW_HOLDER, 0n), gas: quantity(200_000n)},
      overrides: {
        [NEW_HOLDER]: {
          code: codeOf(
            "PUSH0 PUSH0 PUSH0 PUSH0 CREATE2 PUSH1 created JUMPI PUSH0 PUSH0 REVERT created: STOP",
          ),
          nonce: "0x1",
        },
      },
    },
    {
      title: "delegatecall",
      call: {...call("Ledger", "fill(uint256,uint256,uint256)", 30n, 33n, 1n), to: at("Proxy")},
    },
    {title: "gas that depends on the block", call: call("Witness", "spendByBlock()"), dependsOnBlock: true},
    {
      title: "gas that depends on the transaction's gas price",
      call: {...transfer(NEW_HOLDER, 0n), gasPrice: "0x1ff"},
      // GASPRICE, counted down.
      overrides: {
        [NEW_HOLDER]: {code: codeOf("GASPRICE again: PUSH1 1 SWAP1 SUB DUP1 PUSH1 again JUMPI STOP")},
      },
    },
    {
      title: "CLZ",
      call: transfer(NEW_HOLDER, 0n),
      overrides: {[NEW_HOLDER]: {code: codeOf("PUSH1 1 CLZ PUSH0 MSTORE PUSH1 32 PUSH0 RETURN")}},
    },
    {
      title: "STOP",
      call: transfer(NEW_HOLDER, 0n),
      overrides: {[NEW_HOLDER]: {code: codeOf("STOP")}},
    },
  ];
}

export function precompileCases({call}: Kit): readonly GasCase[] {
  return precompileInputs().flatMap(([name, at, input]) => [
    {
      title: name,
      call: {from: alice.address, to: address(at), data: encodeHex(input)},
      ...(input.length === 0 && at !== 4 && {guessedByAnvil: true as const}),
    },
    {
      title: `${name}, from a contract, twice`,
      call: call("Forwarder", "staticCall(address,bytes,uint256)", address(at), input, 2n),
    },
  ]);
}
