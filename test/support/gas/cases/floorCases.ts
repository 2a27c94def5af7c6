/** The least gas that calldata costs, whatever the code does (EIP-7623). */

import {encodeHex} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../demo/abi.ts";
import {codeOf} from "../../estimates/assembler.ts";
import {people} from "../gasAccounts.ts";
import {address, type GasCase, type Kit, loop, NEW_HOLDER, transfer} from "../gasKit.ts";

const {bob} = people;

export function floorCases({at, call}: Kit): readonly GasCase[] {
  const many = encodeHex(Buffer.alloc(2000, 0xab));
  const zeros = encodeHex(Buffer.alloc(5000));
  return [
    {title: "many bytes to an account", call: {...transfer(bob.address, 1n), data: many}},
    {title: "many zero bytes to an account", call: {...transfer(bob.address, 0n), data: zeros}},
    {title: "many bytes to a new account", call: {...transfer(NEW_HOLDER, 1n), data: many}},
    {title: "one byte", call: {...transfer(bob.address, 0n), data: codeOf("ADD")}},
    {title: "many bytes to the identity precompile", call: {...transfer(address(4), 0n), data: many}},
    {
      title: "many bytes to cheap code",
      call: {...transfer(NEW_HOLDER, 0n), data: many},
      overrides: {[NEW_HOLDER]: {code: codeOf("STOP")}},
    },
    {
      title: "many bytes to code a little cheaper than the floor",
      call: {...transfer(NEW_HOLDER, 0n), data: many},
      overrides: {[NEW_HOLDER]: {code: loop(1800)}},
    },
    {
      title: "many bytes to code a little dearer than the floor",
      call: {...transfer(NEW_HOLDER, 0n), data: many},
      overrides: {[NEW_HOLDER]: {code: loop(1900)}},
    },
    {
      title: "many bytes and a slot cleared: the refund stops at the floor",
      call: {
        ...call("Ledger", "clear(uint256,uint256)", 0n, 4n),
        data: `${call("Ledger", "clear(uint256,uint256)", 0n, 4n).data}${"ab".repeat(1000)}`,
      },
    },
    {
      title: "many bytes with an access list",
      call: {
        ...transfer(bob.address, 0n),
        data: many,
        accessList: [{address: at("Till"), storageKeys: [encodeHex(word(0n))]}],
      },
    },
  ];
}
