/** Code that every fork since berlin can run, but whose price a hard fork has changed. */

import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {codeOf} from "../../estimates/assembler.ts";
import type {CallObject} from "../../estimates/callObject.ts";
import {precompileInputs} from "../../estimates/precompileInputs.ts";
import {people} from "../gasAccounts.ts";
import {address, type FailingCase, type GasCase, NEW_HOLDER, slot, transfer} from "../gasKit.ts";

const {alice, bob} = people;

/** In order. */
export const FORKS = ["berlin", "london", "shanghai", "cancun", "prague", "osaka"] as const;
export type Fork = (typeof FORKS)[number];

/** Code that uses an opcode, and the fork that introduced the opcode. */
const NEW_OPCODES: Readonly<Record<string, readonly [code: string, since: Fork]>> = {
  BASEFEE: [codeOf("BASEFEE STOP"), "london"],
  PUSH0: [codeOf("PUSH0 STOP"), "shanghai"],
  TLOAD: [codeOf("PUSH1 0 TLOAD STOP"), "cancun"],
  MCOPY: [codeOf("PUSH1 0 PUSH1 0 PUSH1 0 MCOPY STOP"), "cancun"],
  BLOBBASEFEE: [codeOf("BLOBBASEFEE STOP"), "cancun"],
  CLZ: [codeOf("PUSH1 1 CLZ STOP"), "osaka"],
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
    run(
      "slots cleared",
      codeOf("PUSH1 0 PUSH1 0 SSTORE PUSH1 0 PUSH1 1 SSTORE PUSH1 0 PUSH1 2 SSTORE STOP"),
      set,
    ),
    run("slots read", codeOf("PUSH1 0 SLOAD PUSH1 1 SLOAD PUSH1 2 SLOAD PUSH1 2 SLOAD"), set),
    run("an account destroyed", codeOf(`PUSH20 ${bob.address} SELFDESTRUCT`)),
    run("the beneficiary looked at", codeOf("COINBASE BALANCE STOP")),
    {title: "initcode", call: create(Buffer.alloc(4000))},
    {
      title: "a creation",
      call: create(
        Buffer.concat([
          decodeHex(codeOf("PUSH2 2000 DUP1 PUSH1 12 PUSH1 0 CODECOPY PUSH1 0 RETURN")),
          Buffer.alloc(2000),
        ]),
      ),
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

/** Opcodes that `fork` does not have yet. */
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

/** True if `fork` is `since` or a later fork. */
function isIn(fork: Fork, since: Fork): boolean {
  return FORKS.indexOf(fork) >= FORKS.indexOf(since);
}
