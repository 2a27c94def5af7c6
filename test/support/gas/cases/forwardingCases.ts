/** Calls within calls: the 64th part of the gas that is kept back, stipends, and code that reads the remaining gas. */

import {quantity} from "../../../../client/bytes/hex.ts";
import {codeOf} from "../../estimates/assembler.ts";
import {ETHER, people} from "../gasAccounts.ts";
import {address, type GasCase, type Kit, NEW_HOLDER, transfer} from "../gasKit.ts";

const {bob, dave} = people;

export function forwardingCases({at, call, input}: Kit): readonly GasCase[] {
  const filling = input("Ledger", "fill(uint256,uint256,uint256)", 300n, 310n, 5n);
  return [
    {title: "one call deep", call: call("Forwarder", "nest(uint256,uint256)", 1n, 400n)},
    {title: "5 calls deep", call: call("Forwarder", "nest(uint256,uint256)", 5n, 400n)},
    {title: "50 calls deep", call: call("Forwarder", "nest(uint256,uint256)", 50n, 0n)},
    {
      title: "an attempt that may fail",
      call: call("Forwarder", "attempt(uint256)", 500n),
      spendsWhatItGets: true,
    },
    {
      title: "an attempt that costs more where it fails",
      call: call("Forwarder", "attemptOrElse(uint256,uint256)", 100n, 2000n),
    },
    {
      title: "a relay that demands gas for its call",
      call: call("Forwarder", "relay(address,bytes,uint256)", at("Ledger"), filling, 300_000n),
    },
    {
      title: "a relay that demands far more than its call takes",
      call: call("Forwarder", "relay(address,bytes,uint256)", at("Ledger"), filling, 5_000_000n),
    },
    {
      title: "through two contracts to a third",
      call: call("Forwarder", "call(address,bytes)", at("Proxy"), filling),
    },
    {
      title: "value passed on to a contract",
      call: {
        ...call("Forwarder", "call(address,bytes)", at("Till"), new Uint8Array(0)),
        value: "0x9",
      },
    },
    {
      title: "value passed on to a new account",
      call: {
        ...call("Forwarder", "call(address,bytes)", NEW_HOLDER, new Uint8Array(0)),
        value: "0x9",
      },
    },
    {
      title: "to an account that has delegated",
      call: call(
        "Forwarder",
        "call(address,bytes)",
        dave.address,
        input("Ledger", "clear(uint256,uint256)", 0n, 5n),
      ),
    },
    {title: "the stipend to a contract", call: call("Till", "pay(address,uint256)", at("Till"), 1n)},
    {title: "the stipend to an account", call: call("Till", "pay(address,uint256)", bob.address, 1n)},
    {
      title: "the stipend to a new account",
      call: call("Till", "pay(address,uint256)", NEW_HOLDER, 1n),
    },
    {
      title: "ether to 8 new accounts",
      call: {
        ...call(
          "Disperser",
          "disperse(address[])",
          Array.from({length: 8}, (_, i) => address(0xbb00 + i)),
        ),
        value: quantity(ETHER),
      },
    },
    {title: "code that wants gas left", call: call("GasReader", "need(uint256)", 1_000_000n)},
    {title: "code that wants much gas left", call: call("GasReader", "need(uint256)", 10_000_000n)},
    {
      title: "code that burns what it gets",
      call: {...call("GasReader", "burnDownTo(uint256)", 50_000n), gas: quantity(400_000n)},
      spendsWhatItGets: true,
    },
    {
      title: "code that calls itself without end",
      call: {...transfer(NEW_HOLDER, 0n), gas: quantity(300_000n)},
      overrides: {[NEW_HOLDER]: {code: codeOf("PUSH0 PUSH0 PUSH0 PUSH0 PUSH0 ADDRESS GAS CALL")}},
      spendsWhatItGets: true,
    },
    {
      title: "code that burns what it gets, and gets little",
      call: {...call("GasReader", "burnDownTo(uint256)", 50_000n), gas: quantity(100_000n)},
      spendsWhatItGets: true,
    },
  ];
}
