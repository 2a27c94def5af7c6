/** Creations, by transactions and by contracts. */

import assert from "node:assert/strict";
import {encodeHex} from "../../../../client/bytes/hex.ts";
import {encodeCreation, word} from "../../../../demo/abi.ts";
import {codeOf} from "../../estimates/assembler.ts";
import type {CallObject} from "../../estimates/callObject.ts";
import {people} from "../gasAccounts.ts";
import {type GasCase, initcodeOf, type Kit} from "../gasKit.ts";

const {alice} = people;

export function creationCases({contracts}: Kit): readonly GasCase[] {
  const create = (name: string, ...values: bigint[]): CallObject => ({
    from: alice.address,
    data: encodeHex(encodeCreation(contracts[name] ?? assert.fail(name), ...values)),
  });
  return [
    {title: "of nothing", call: {from: alice.address}},
    {title: "of nothing, from nobody", call: {}},
    {title: "of nothing, with value", call: {from: alice.address, value: "0x1"}},
    {title: "small", call: create("PiggyBank")},
    {title: "that writes slots and logs", call: create("Token", 1000n)},
    {title: "that takes ether", call: {...create("Vault", 5n), value: "0x64"}},
    {title: "that demands ether", call: {...create("Demanding", 100n), value: "0x64"}},
    {title: "of 24 576 bytes", call: {from: alice.address, data: encodeHex(initcodeOf(24_576))}},
    {title: "of 10 000 bytes", call: {from: alice.address, data: encodeHex(initcodeOf(10_000))}},
    {
      title: "with 49 152 bytes of initcode that make none",
      call: {from: alice.address, data: encodeHex(Buffer.alloc(49_152))},
    },
    {
      title: "with 40 000 bytes of initcode, none zero: the floor",
      call: {
        from: alice.address,
        data: encodeHex(Buffer.concat([Buffer.of(0), Buffer.alloc(39_999, 0xff)])),
      },
    },
    {
      title: "that destroys itself",
      call: {from: alice.address, data: codeOf("CALLER SELFDESTRUCT"), value: "0x1"},
    },
    {title: "with a later nonce", call: {...create("PiggyBank"), nonce: "0x5"}},
  ];
}

export function creatorCases({contracts, call}: Kit): readonly GasCase[] {
  return [
    {title: "CREATE", call: call("Factory", "make(uint256)", 1n)},
    {title: "CREATE with value", call: {...call("Factory", "make(uint256)", 1n), value: "0x7"}},
    {title: "CREATE2", call: call("Factory", "makeAt(bytes32,uint256)", word(1n), 2n)},
    {title: "10 times", call: call("Parent", "make(uint256)", 10n)},
    {title: "CREATE2 and SELFDESTRUCT", call: call("Factory", "makeAndDestroy(bytes32)", word(1n))},
    {
      title: "CREATE2 with much to keep",
      call: call("Parent", "makeAt(bytes32,bytes)", word(1n), initcodeOf(20_000)),
    },
    {
      title: "CREATE2 of a token",
      call: call(
        "Parent",
        "makeAt(bytes32,bytes)",
        word(1n),
        encodeCreation(contracts.Token ?? assert.fail(), 9n),
      ),
    },
  ];
}
