/** Calls on overridden state. */

import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../demo/abi.ts";
import {codeOf} from "../../estimates/assembler.ts";
import {ETHER, people} from "../gasAccounts.ts";
import {
  balanceSlot,
  type GasCase,
  initcodeOf,
  type Kit,
  loop,
  NEW_HOLDER,
  slot,
  transfer,
} from "../gasKit.ts";

const {alice, bob, nobody, blocked} = people;

export function overrideCases({at, call, contracts}: Kit): readonly GasCase[] {
  const deployed = (name: string) => `0x${contracts[name]?.deployedBytecode}`;
  const clear = call("Ledger", "clear(uint256,uint256)", 0n, 30n);
  return [
    {
      title: "of code at an account without any",
      call: {...clear, to: NEW_HOLDER},
      overrides: {[NEW_HOLDER]: {code: deployed("Ledger")}},
    },
    {title: "of code that was there", call: clear, overrides: {[at("Ledger")]: {code: codeOf("STOP")}}},
    {title: "that take the code away", call: clear, overrides: {[at("Ledger")]: {code: "0x"}}},
    {title: "of all slots: none is left", call: clear, overrides: {[at("Ledger")]: {state: {}}}},
    {
      title: "of all slots: two are left",
      call: clear,
      overrides: {
        [at("Ledger")]: {state: {[slot(3)]: encodeHex(word(1n)), [slot(4)]: encodeHex(word(1n))}},
      },
    },
    {
      title: "of some slots",
      call: clear,
      overrides: {
        [at("Ledger")]: {stateDiff: {[slot(3)]: encodeHex(word(0n)), [slot(4)]: encodeHex(word(9n))}},
      },
    },
    {
      title: "of a token balance",
      call: {...call("Token", "transfer(address,uint256)", alice.address, 3n), from: nobody.address},
      overrides: {[at("Token")]: {stateDiff: {[balanceSlot(nobody)]: encodeHex(word(3n))}}},
    },
    {
      title: "of a balance",
      call: {from: nobody.address, to: at("Till"), value: quantity(ETHER)},
      overrides: {[nobody.address]: {balance: quantity(ETHER)}},
    },
    {
      title: "of a balance that pays a fee",
      call: {from: nobody.address, to: at("Till"), gasPrice: "0x64"},
      overrides: {[nobody.address]: {balance: quantity(100n * 100_000n)}},
    },
    {
      title: "of a nonce: the creation goes elsewhere",
      call: {from: blocked.address, data: encodeHex(initcodeOf(100))},
      overrides: {[blocked.address]: {nonce: "0x20"}},
    },
    {
      title: "of the code of the sender",
      call: transfer(at("Till"), 1n),
      overrides: {[alice.address]: {code: deployed("Till")}},
    },
    {
      title: "of a contract that calls another one",
      call: call("Forwarder", "call(address,bytes)", NEW_HOLDER, Buffer.alloc(4)),
      overrides: {[NEW_HOLDER]: {code: loop(700)}},
    },
    {
      title: "of accounts that have no part in it",
      call: transfer(bob.address, 1n),
      overrides: {[NEW_HOLDER]: {code: codeOf("STOP"), balance: "0x5", nonce: "0x3"}},
    },
  ];
}
