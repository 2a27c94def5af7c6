/** Every kind of change to accounts and slots, block by block. Anvil's own deployer makes the contracts, by CREATE2. */
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {PEOPLE, type Sent} from "./people.ts";

export const DEPLOYER = "0x4e59b44847b379578588920ca78fbf26c0b4956c";
const HEIR = 0xbebebe00n;

/** No calldata: takes funds. One word: SELFDESTRUCT to that address. Two words: writes the second to the slot of the first. */
const MACHINE = hex("3660055700 5b 60203614601557 6020356000355500 5b600035ff");
/** Calls the first word with the rest of the calldata. Ignores its failure. */
const TRY = hex("6020360360206000 37 60006000 60203603 60006000 600035 5a f1 00");
/** As TRY, and then reverts. */
const REVERT_AFTER = hex("6020360360206000 37 60006000 60203603 60006000 600035 5a f1 60006000fd");

/** Writes slots 1 and 2, and has the code of MACHINE. */
const CREATE_MACHINE = Buffer.concat([hex("6007600155 6008600255"), returnCode(MACHINE, 10)]);
/** Writes a slot and destroys itself in its creation. */
const CREATE_AND_DESTROY = hex("6007600155 63bebebe00 ff");
/** Writes a slot and has no code. */
const CREATE_EMPTY = hex("6009600155 60006000f3");

export const machine = created(1n, CREATE_MACHINE);
const tryer = created(1n, returnCode(TRY, 0));
const reverter = created(1n, returnCode(REVERT_AFTER, 0));

/** Makes a machine, and tells it to destroy itself in a call that is reverted. geth 1.17 leaves the machine out of its traces. */
const CREATE_AND_KEEP = Buffer.concat([
  hex(`6030 6039 6000 39 6030 6000 6000 f0 6000 52 60be 6020 52 6000 6000 6040 6000 6000`),
  hex(`73${reverter.slice(2)} 5a f1 50 00`),
  CREATE_MACHINE,
]);

const deploy = (salt: bigint, code: Uint8Array): Sent => ({
  to: DEPLOYER,
  data: Buffer.concat([word(salt), code]),
});
const deployMachine = (salt: bigint): Sent => deploy(salt, CREATE_MACHINE);
const write = (to: string, slot: bigint, value: bigint): Sent => ({to, data: words(slot, value)});
const destroy = (to: string): Sent => ({to, data: words(HEIR)});
const pay = (to: string, value: bigint): Sent => ({to, value});

const CODES = [deployMachine(1n), deploy(1n, returnCode(TRY, 0)), deploy(1n, returnCode(REVERT_AFTER, 0))];

/** Title of a block, and its transactions. They work under every fork from berlin on. */
export const STATE_TRAFFIC: readonly (readonly [title: string, transactions: readonly Sent[]])[] = [
  ["three contracts are made", CODES],
  ["no transaction", []],
  [
    "slots are written, some of them twice, and one is zeroed",
    [write(machine, 5n, 1n), write(machine, 6n, 2n), write(machine, 5n, 3n), write(machine, 1n, 0n)],
  ],
  [
    "a slot is zeroed and written again, one is written and zeroed, one is zeroed twice",
    [
      ...[write(machine, 5n, 0n), write(machine, 5n, 4n), write(machine, 8n, 1n), write(machine, 8n, 0n)],
      ...[write(machine, 6n, 0n), write(machine, 6n, 0n)],
    ],
  ],
  [
    "payments: to new accounts, of nothing, to precompiles, to the sender",
    [
      ...[pay("0x00000000000000000000000000000000000000a1", 5n), pay(`0x${"a2".repeat(20)}`, 0n)],
      ...[pay(precompile(1), 0n), pay(precompile(4), 7n), pay(PEOPLE[0] as string, 1n)],
    ],
  ],
  ["a contract is told to destroy itself", [pay(machine, 9n), destroy(machine)]],
  ["it is made again", [deployMachine(1n), write(machine, 11n, 1n)]],
  [
    "it is destroyed, made again and written to",
    [destroy(machine), deployMachine(1n), write(machine, 9n, 9n)],
  ],
  ["it is destroyed and paid", [destroy(machine), pay(machine, 3n)]],
  ["it is made again over its balance", [deployMachine(1n)]],
  [
    "it is destroyed and made again twice",
    [destroy(machine), deployMachine(1n), write(machine, 2n, 0n), destroy(machine), deployMachine(1n)],
  ],
  ["it is written to and destroyed", [write(machine, 77n, 1n), destroy(machine)]],
  ["it is made, destroyed and made again", [deployMachine(1n), destroy(machine), deployMachine(1n)]],
  ["an account is paid that will be made", [pay(created(2n, CREATE_AND_DESTROY), 5n)]],
  [
    "it is made and destroyed by one transaction, and paid again",
    [deploy(2n, CREATE_AND_DESTROY), pay(created(2n, CREATE_AND_DESTROY), 6n)],
  ],
  [
    "another one is paid, made and destroyed",
    [pay(created(3n, CREATE_AND_DESTROY), 5n), deploy(3n, CREATE_AND_DESTROY)],
  ],
  ["one is paid and made in one block", [pay(created(4n, CREATE_MACHINE), 5n), deployMachine(4n)]],
  ["one is paid", [pay(created(5n, CREATE_MACHINE), 5n)]],
  ["it is paid again and made", [pay(created(5n, CREATE_MACHINE), 1n), deployMachine(5n)]],
  ["a contract without code is made", [deploy(6n, CREATE_EMPTY)]],
  [
    "a contract destroys itself in a call that is reverted",
    [
      {to: tryer, data: words(reverter, created(4n, CREATE_MACHINE), HEIR)},
      write(created(4n, CREATE_MACHINE), 3n, 3n),
    ],
  ],
  ["one transaction makes a contract, and reverts its destruction", [{data: CREATE_AND_KEEP}]],
  [
    "transactions fail: reverted, out of gas",
    [
      {to: reverter, data: words(machine, 40n, 1n)},
      {...write(machine, 41n, 1n), gas: 24_000n},
      {data: hex("60006000fd")},
    ],
  ],
  ["an account makes a contract by itself", [{data: CREATE_MACHINE}, {from: 1, data: CREATE_MACHINE}]],
];

/** The same for forks from prague on. */
export const DELEGATION_TRAFFIC: typeof STATE_TRAFFIC = [
  [
    "an account delegates to a contract and writes its own slots",
    [{to: machine, delegations: [{by: 1, to: machine}]}, write(PEOPLE[1] as string, 1n, 5n)],
  ],
  ["it zeroes one of them", [write(PEOPLE[1] as string, 2n, 5n), write(PEOPLE[1] as string, 1n, 0n)]],
  [
    "it ends the delegation, by a transaction that fails",
    [{to: reverter, data: words(machine), gas: 90_000n, delegations: [{by: 1, to: precompile(0)}]}],
  ],
  [
    "another one delegates, ends it and delegates again",
    [
      {to: machine, delegations: [{by: 2, to: machine}]},
      {to: machine, delegations: [{by: 2, to: precompile(0)}]},
      {
        to: machine,
        delegations: [
          {by: 2, to: tryer},
          {by: 1, to: tryer},
        ],
      },
    ],
  ],
  [
    "two delegations end",
    [
      {
        to: machine,
        delegations: [
          {by: 2, to: precompile(0)},
          {by: 1, to: precompile(0)},
        ],
      },
    ],
  ],
  ["a sender delegates", [{from: 2, to: machine, delegations: [{by: 2, to: machine}]}]],
];

function created(salt: bigint, code: Uint8Array): string {
  const from = Buffer.concat([hex("ff"), hex(DEPLOYER.slice(2)), word(salt), keccak256(code)]);
  return toHex(keccak256(from).subarray(12));
}

/** Initcode, `offset` bytes after its start, that returns `code`. */
function returnCode(code: Uint8Array, offset: number): Buffer {
  const length = code.length.toString(16).padStart(2, "0");
  const from = (offset + 12).toString(16).padStart(2, "0");
  return Buffer.concat([hex(`60${length}60${from}60003960${length}6000f3`), code]);
}

function precompile(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function words(...values: readonly (bigint | string)[]): Buffer {
  return Buffer.concat(values.map(value => word(BigInt(value))));
}

function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}
