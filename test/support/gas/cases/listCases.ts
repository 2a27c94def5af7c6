/** What a transaction carries in addition to its call: access lists (EIP-2930) and authorizations (EIP-7702). */

import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../demo/abi.ts";
import type {AuthorizationObject, CallObject} from "../../estimates/callObject.ts";
import {type Person, people} from "../gasAccounts.ts";
import {address, type GasCase, type Kit, NEW_HOLDER, sign, transfer} from "../gasKit.ts";

const {alice, bob, dave, nobody, blocked} = people;

export function accessListCases({at, call, input}: Kit): readonly GasCase[] {
  const sum = call("Slots", "sum(uint256,uint256)", 0n, 10n);
  const slots = (count: number) => Array.from({length: count}, (_, slot) => encodeHex(word(BigInt(slot))));
  return [
    {title: "none", call: sum},
    {title: "empty", call: {...sum, accessList: []}},
    {
      title: "of what is read",
      call: {...sum, accessList: [{address: at("Slots"), storageKeys: slots(10)}]},
    },
    {
      title: "of what is not read",
      call: {...sum, accessList: [{address: at("Till"), storageKeys: slots(10)}]},
    },
    {
      title: "of another contract, which is called",
      call: {
        ...call(
          "Forwarder",
          "call(address,bytes)",
          at("Slots"),
          input("Slots", "sum(uint256,uint256)", 0n, 10n),
        ),
        accessList: [{address: at("Slots"), storageKeys: slots(10)}],
      },
    },
    {
      title: "with repeats",
      call: {
        ...sum,
        gasPrice: "0x9",
        accessList: [
          {address: at("Slots"), storageKeys: [...slots(2), ...slots(2)]},
          {address: at("Slots"), storageKeys: []},
        ],
      },
    },
    {
      title: "of a transfer",
      call: {...transfer(bob.address, 1n), accessList: [{address: bob.address, storageKeys: slots(1)}]},
    },
  ];
}

export function authorizationCases({at, call, input}: Kit): readonly GasCase[] {
  const clear = input("Ledger", "fill(uint256,uint256,uint256)", 0n, 3n, 8n);
  const delegated = (authority: Person, ...authorizationList: AuthorizationObject[]): CallObject => ({
    from: alice.address,
    to: authority.address,
    data: encodeHex(clear),
    authorizationList,
  });
  const batch = input("Batcher", "run((address,bytes)[])", [
    [at("Token"), input("Token", "transfer(address,uint256)", bob.address, 1n)],
  ]);
  return [
    {title: "of an account that exists", call: delegated(bob, sign(bob, at("Ledger"), 0n))},
    {title: "of an account that does not", call: delegated(nobody, sign(nobody, at("Ledger"), 0n))},
    {title: "for any chain", call: delegated(bob, sign(bob, at("Ledger"), 0n, 0n))},
    {title: "for another chain: skipped", call: delegated(bob, sign(bob, at("Ledger"), 0n, 5n))},
    {title: "with a wrong nonce: skipped", call: delegated(bob, sign(bob, at("Ledger"), 4n))},
    {
      title: "with no signature: skipped",
      call: delegated(bob, {...sign(bob, at("Ledger"), 0n), r: "0x1", s: quantity(2n ** 255n)}),
    },
    {
      title: "two of one account",
      call: delegated(bob, sign(bob, at("Till"), 0n), sign(bob, at("Ledger"), 1n)),
    },
    {
      title: "of three accounts",
      call: delegated(
        bob,
        sign(bob, at("Ledger"), 0n),
        sign(nobody, at("Ledger"), 0n),
        sign(blocked, at("Ledger"), 9n),
      ),
    },
    {title: "that replaces one", call: delegated(dave, sign(dave, at("Proxy"), 1n))},
    {title: "that ends one", call: delegated(dave, sign(dave, address(0), 1n))},
    {
      title: "of the sender, who calls itself",
      call: {
        from: alice.address,
        to: alice.address,
        data: encodeHex(batch),
        authorizationList: [sign(alice, at("Batcher"), 1n)],
      },
    },
    {
      title: "to a precompile: no code",
      call: delegated(bob, sign(bob, address(4), 0n)),
    },
    {
      title: "unused beside another call",
      call: {
        ...call("Token", "transfer(address,uint256)", bob.address, 3n),
        authorizationList: [sign(bob, at("Ledger"), 0n)],
      },
    },
    {
      title: "with a transfer",
      call: {...transfer(NEW_HOLDER, 1n), authorizationList: [sign(bob, at("Ledger"), 0n)]},
    },
    {
      title: "from before: a call to who delegated",
      call: {from: alice.address, to: dave.address, data: encodeHex(clear)},
    },
  ];
}
