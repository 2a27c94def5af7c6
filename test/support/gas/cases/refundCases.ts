/** Slots written, cleared and restored. */
import {people} from "../gasAccounts.ts";
import {type GasCase, type Kit, NEW_HOLDER} from "../gasKit.ts";

const {bob, dave} = people;

export function refundCases({at, call}: Kit): readonly GasCase[] {
  return [
    {title: "one slot cleared", call: call("Ledger", "clear(uint256,uint256)", 0n, 1n)},
    {title: "90 slots cleared, refund capped", call: call("Ledger", "clear(uint256,uint256)", 0n, 90n)},
    {title: "slots cleared that are not set", call: call("Ledger", "clear(uint256,uint256)", 500n, 520n)},
    {title: "slots filled", call: call("Ledger", "fill(uint256,uint256,uint256)", 500n, 520n, 1n)},
    {title: "slots changed", call: call("Ledger", "fill(uint256,uint256,uint256)", 0n, 20n, 1n)},
    {
      title: "slots written as they are",
      call: call("Ledger", "fill(uint256,uint256,uint256)", 0n, 20n, 1000n),
    },
    {title: "slots set and cleared", call: call("Slots", "setAndClear(uint256)", 30n)},
    {title: "slots cleared and restored", call: call("Slots", "clearAndRestore(uint256,uint256)", 0n, 30n)},
    {title: "an SSTORE at the end that needs more than it costs", call: call("Slots", "writeLast()")},
    {title: "an ether bank destroyed", call: call("PiggyBank", "close(address)", bob.address)},
    {
      title: "an ether bank destroyed, to a new heir",
      call: call("PiggyBank", "close(address)", NEW_HOLDER),
    },
    {
      title: "one slot cleared by delegation",
      call: {...call("Ledger", "clear(uint256,uint256)", 0n, 10n), to: dave.address},
    },
    {
      title: "slots cleared behind a proxy",
      call: {...call("Ledger", "clear(uint256,uint256)", 1n, 20n), to: at("Proxy")},
    },
  ];
}
