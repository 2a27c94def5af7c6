/** What a hard fork has changed the price of, in code that every fork since berlin knows. */

import {encodeHex} from "../../../../verify/hex.ts";
import type {CallObject} from "../../estimates/callObject.ts";
import {precompileInputs} from "../../estimates/precompileInputs.ts";
import {people} from "../gasAccounts.ts";
import {address, type FailingCase, type GasCase, NEW_HOLDER, slot, transfer} from "../gasKit.ts";

const {alice, bob} = people;

/** In order. */
export const FORKS = ["berlin", "london", "shanghai", "cancun", "prague", "osaka"] as const;
export type Fork = (typeof FORKS)[number];

/** Code that takes an opcode, and the fork that brought it. */
const NEW_OPCODES: Readonly<Record<string, readonly [code: string, since: Fork]>> = {
  BASEFEE: ["0x4800", "london"],
  PUSH0: ["0x5f00", "shanghai"],
  TLOAD: ["0x60005c00", "cancun"],
  MCOPY: ["0x6000600060005e00", "cancun"],
  BLOBBASEFEE: ["0x4a00", "cancun"],
  CLZ: ["0x60011e00", "osaka"],
};

export function forkCases(fork: Fork): readonly GasCase[] {
  const run = (title: string, code: string, state: Record<string, string> = {}): GasCase => ({
    title,
    call: transfer(NEW_HOLDER, 0n),
    overrides: {[NEW_HOLDER]: {code, state}},
  });
  const set = Object.fromEntries([0, 1, 2].map(number => [slot(number), slot(9)]));
  const create = (initcode: Buffer): CallObject => ({from: alice.address, data: encodeHex(initcode)});
  return [
    {title: "a transfer", call: transfer(bob.address, 1n)},
    {title: "calldata", call: {...transfer(bob.address, 0n), data: `0x${"ab00".repeat(500)}`}},
    {
      title: "an access list",
      call: {
        ...transfer(bob.address, 1n),
        gasPrice: "0x9",
        accessList: [{address: bob.address, storageKeys: [slot(0)]}],
      },
    },
    run("slots cleared", "0x60006000556000600155600060025500", set),
    run("slots read", "0x600054600154600254600254", set),
    run("an account destroyed", `0x73${bob.address.slice(2)}ff`),
    run("the beneficiary looked at", "0x413100"),
    {title: "initcode", call: create(Buffer.alloc(4000))},
    {
      title: "a creation",
      call: create(Buffer.concat([Buffer.from("6107d080600c6000396000f3", "hex"), Buffer.alloc(2000)])),
    },
    ...precompileInputs()
      .filter(([, at]) => at < 0x0a || at === 0x100)
      .filter(([, , input]) => input.length > 0)
      .map(([title, at, input]) => ({
        title,
        call: {from: alice.address, to: address(at), data: encodeHex(input)},
      })),
    ...opcodes(since => isIn(fork, since)).map(([name, code]) => run(name, code)),
  ];
}

/** Opcodes that are not there yet. */
export function olderForkCases(fork: Fork): readonly FailingCase[] {
  return opcodes(since => !isIn(fork, since)).map(([name, code]) => ({
    title: name,
    call: transfer(NEW_HOLDER, 0n),
    overrides: {[NEW_HOLDER]: {code}},
    code: -32000,
    message: /invalid opcode/,
  }));
}

function opcodes(isChosen: (since: Fork) => boolean): [name: string, code: string][] {
  return Object.entries(NEW_OPCODES)
    .filter(([, [, since]]) => isChosen(since))
    .map(([name, [code]]) => [name, code]);
}

/** Does `fork` have what came with `since`? */
function isIn(fork: Fork, since: Fork): boolean {
  return FORKS.indexOf(fork) >= FORKS.indexOf(since);
}
