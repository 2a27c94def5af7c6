/** Ether and tokens that change hands. */

import {quantity} from "../../../../client/bytes/hex.ts";
import {POOR_BALANCE, people} from "../gasAccounts.ts";
import {BENEFICIARY} from "../gasChain.ts";
import {address, balanceSlot, type GasCase, type Kit, NEW_HOLDER, transfer} from "../gasKit.ts";

const {alice, bob, dave, poor} = people;

export function transferCases({at}: Kit): readonly GasCase[] {
  return [
    {title: "to an account", call: transfer(bob.address, 1n)},
    {title: "to a new account", call: transfer(NEW_HOLDER, 1n)},
    {title: "of nothing", call: transfer(bob.address, 0n)},
    {title: "to oneself", call: transfer(alice.address, 1n)},
    {title: "to a precompile", call: transfer(address(4), 1n)},
    {title: "of nothing to a precompile", call: transfer(address(3), 0n), guessedByAnvil: true},
    {title: "to the block's beneficiary", call: transfer(BENEFICIARY, 1n)},
    {title: "to a contract that logs it", call: transfer(at("Till"), 5n)},
    {title: "to a contract that counts it", call: transfer(at("PiggyBank"), 5n)},
    {title: "from an account that has delegated", call: {...transfer(bob.address, 1n), from: dave.address}},
    {title: "from a contract", call: {...transfer(bob.address, 1n), from: at("Factory")}},
    {title: "from no named sender", call: {to: bob.address}},
    {title: "that names a fee", call: {...transfer(bob.address, 1n), gasPrice: "0x64"}},
    {
      title: "that names a fee cap",
      call: {...transfer(bob.address, 1n), maxFeePerGas: "0x64", maxPriorityFeePerGas: "0x1"},
    },
    {title: "with little gas named", call: {...transfer(bob.address, 1n), gas: quantity(21_000n)}},
    {
      title: "of all that a sender has beside the fee",
      call: {
        from: poor.address,
        to: bob.address,
        value: quantity(POOR_BALANCE - 2_100_000n),
        gasPrice: "0x64",
      },
    },
    {
      title: "of all that a sender has, naming no fee",
      call: {from: poor.address, to: bob.address, value: quantity(POOR_BALANCE)},
    },
    {
      title: "to a contract, as much gas as the sender can pay",
      call: {from: poor.address, to: at("Till"), gasPrice: "0x64", value: "0x5"},
    },
    {title: "with data to an account without code", call: {...transfer(bob.address, 1n), data: "0x00112233"}},
  ];
}

export function tokenCases({at, call}: Kit): readonly GasCase[] {
  return [
    {
      title: "transfer to a new holder",
      call: call("Token", "transfer(address,uint256)", NEW_HOLDER, 3n),
    },
    {title: "transfer to a holder", call: call("Token", "transfer(address,uint256)", bob.address, 3n)},
    {title: "transfer to oneself", call: call("Token", "transfer(address,uint256)", alice.address, 3n)},
    {
      title: "transfer of the whole balance: a slot is cleared",
      call: {...call("Token", "transfer(address,uint256)", alice.address, 7n), from: bob.address},
    },
    {
      title: "transfer of the whole balance to a new holder",
      call: {...call("Token", "transfer(address,uint256)", NEW_HOLDER, 7n), from: bob.address},
    },
    {title: "transfer of nothing", call: call("Token", "transfer(address,uint256)", bob.address, 0n)},
    {title: "approve", call: call("Token", "approve(address,uint256)", bob.address, 1n)},
    {title: "approve of a new spender", call: call("Token", "approve(address,uint256)", NEW_HOLDER, 1n)},
    {
      title: "approve of nothing clears",
      call: call("Token", "approve(address,uint256)", bob.address, 0n),
    },
    {
      title: "transferFrom",
      call: {
        ...call("Token", "transferFrom(address,address,uint256)", alice.address, NEW_HOLDER, 100n),
        from: bob.address,
      },
    },
    {
      title: "transferFrom of the whole allowance",
      call: {
        ...call("Token", "transferFrom(address,address,uint256)", alice.address, bob.address, 500n),
        from: bob.address,
      },
    },
    {title: "balanceOf", call: call("Token", "balanceOf(address)", alice.address)},
    {
      title: "transfer with the slots listed",
      call: {
        ...call("Token", "transfer(address,uint256)", bob.address, 3n),
        accessList: [{address: at("Token"), storageKeys: [balanceSlot(alice), balanceSlot(bob)]}],
      },
    },
  ];
}
