/** The accounts and contracts of the gas chain (gasChain.ts), which exist from block 0 on. */
import {bigIntToUnpaddedBytes, generateAddress, privateToAddress} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";
import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {addressWord, word} from "../../../../demo/abi.ts";
import {type ContractArtefact, readContract} from "../../../../demo/artefact.ts";
import type {AccountDifference} from "../../../support/chains/differenceLine.ts";
import {readFixture} from "../../../support/reference/fixtures.ts";

export const ETHER = 10n ** 18n;

/** Keys are hashes of public labels. A person who signs nothing has a key too. */
export interface Person {
  readonly key: Uint8Array;
  readonly address: string;
}

function createPerson(label: string): Person {
  const key = keccak_256(Buffer.from(`gas chain: ${label}`));
  return {key, address: encodeHex(privateToAddress(key))};
}

export const people = {
  /** 1000 ether, 1000 tokens. */
  alice: createPerson("alice"),
  /** 1000 ether, 7 tokens, may spend 500 of alice's. */
  bob: createPerson("bob"),
  /** 1000 ether. Has delegated to the ledger (EIP-7702). */
  dave: createPerson("dave"),
  /** Ether for 30 000 gas at 100 wei, 5 wei more, and no token. */
  poor: createPerson("poor"),
  /** No account. */
  nobody: createPerson("nobody"),
  /** 1000 ether. There is code at `occupied`, where its next contract would be. */
  blocked: createPerson("blocked"),
};
export const POOR_BALANCE = 3_000_005n;
const BLOCKED_NONCE = 9n;
/** The address at which `people.blocked` would create its next contract. */
const occupied = encodeHex(
  generateAddress(Buffer.from(people.blocked.address.slice(2), "hex"), bigIntToUnpaddedBytes(BLOCKED_NONCE)),
);

/** The contracts and where they are: `at` is the address. */
export type GasContracts = Readonly<Record<string, ContractArtefact & {readonly at: string}>>;

/** The contracts of the demo and of GasCases.sol, by name. Each has code in block 0. */
export function readContracts(): GasContracts {
  const cases = readFixture<{contracts: Record<string, ContractArtefact>}>("own/gas-cases");
  const all: [string, ContractArtefact][] = [
    ["Token", readContract("DemoToken")],
    ["Ledger", readContract("Ledger")],
    ["PiggyBank", readContract("PiggyBank")],
    ["Disperser", readContract("Disperser")],
    ["Batcher", readContract("Batcher")],
    ["Factory", readContract("Factory")],
    ["Vault", readContract("Factory", "Vault")],
    ...Object.entries(cases.contracts),
  ];
  return Object.fromEntries(
    all.map(([name, artefact], at) => [
      name,
      {...artefact, at: `0xc0de${(at + 1).toString(16).padStart(36, "0")}`},
    ]),
  );
}

/** The slot of `key` in a mapping at slot `base`, 32 bytes. */
export function mappingSlot(key: string, base: Uint8Array): Uint8Array {
  return keccak_256(Buffer.concat([addressWord(Buffer.from(key.slice(2), "hex")), base]));
}

/** What block 0 holds. */
export function createAccounts(contracts: GasContracts): Record<string, AccountDifference> {
  const at = (name: string): string => contracts[name]?.at ?? "";
  const contract = (name: string, rest: AccountDifference = {}): [string, AccountDifference] => [
    at(name),
    {nonce: "0x1", balance: "0x0", code: `0x${contracts[name]?.deployedBytecode}`, ...rest},
  ];
  const {alice, bob, dave, poor, blocked} = people;
  const holdings = {nonce: "0x0", balance: quantity(1000n * ETHER)};
  const ether = {balance: quantity(ETHER)};
  const implementation = encodeHex(addressWord(Buffer.from(at("Ledger").slice(2), "hex")));
  return {
    ...Object.fromEntries(Object.keys(contracts).map(name => contract(name))),
    ...Object.fromEntries([
      contract("Token", {storage: createTokenSlots()}),
      contract("Ledger", {storage: fill(0, 100)}),
      contract("Slots", {storage: fill(0, 40)}),
      contract("Proxy", {storage: {...fill(1, 20), [encodeHex(word(0n))]: implementation}}),
      contract("PiggyBank", ether),
      contract("Factory", ether),
      contract("Witness", ether),
      contract("Till", ether),
    ]),
    [alice.address]: holdings,
    [bob.address]: holdings,
    [dave.address]: {
      ...holdings,
      nonce: "0x1",
      code: `0xef0100${at("Ledger").slice(2)}`,
      storage: fill(0, 10),
    },
    [poor.address]: {nonce: "0x0", balance: quantity(POOR_BALANCE)},
    [blocked.address]: {...holdings, nonce: quantity(BLOCKED_NONCE)},
    [occupied]: {nonce: "0x1", balance: "0x0", code: "0x00"},
  };
}

function createTokenSlots(): Record<string, string> {
  const allowance = mappingSlot(people.bob.address, mappingSlot(people.alice.address, word(1n)));
  const slots: [Uint8Array, bigint][] = [
    [mappingSlot(people.alice.address, word(0n)), 1000n * ETHER],
    [mappingSlot(people.bob.address, word(0n)), 7n],
    [allowance, 500n],
    [word(2n), 1000n * ETHER + 7n],
  ];
  return Object.fromEntries(slots.map(([slot, value]) => [encodeHex(slot), encodeHex(word(value))]));
}

/** Slots `from` to `to`, each with a value of its own. */
function fill(from: number, to: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({length: to - from}, (_, at) => {
      const slot = BigInt(from + at);
      return [encodeHex(word(slot)), encodeHex(word(slot + 1000n))];
    }),
  );
}
