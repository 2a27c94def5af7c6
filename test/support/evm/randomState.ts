/** fast-check arbitraries for states: four programs that call each other, and every kind of account that a call can meet. */
import {bigIntToUnpaddedBytes, generateAddress, setLengthLeft} from "@ethereumjs/util";
import fc from "fast-check";
import {toHex} from "../../../storage/hex.ts";
import {type MemoryAccount, MemoryState} from "../chains/memoryState.ts";
import {createCommon} from "../estimates/hardforks.ts";
import {PLAIN_ADDRESS, PROGRAM_ADDRESSES, randomProgram} from "../estimates/randomPrograms.ts";

export const FORKS = ["berlin", "london", "paris", "shanghai", "cancun", "prague", "osaka"];
export const MINER = addressOf(0xc0ffeen);
/** Accounts whose code names another account (EIP-7702). */
const DELEGATED = [0xde1e00n, 0xde1e01n, 0xde1e02n, 0xde1e03n].map(addressOf);
/** Where the first creation of the first program lands. */
const COLLISION = generateAddress(addressOf(PROGRAM_ADDRESSES[0] ?? 0n), Uint8Array.of(1));

/** Addresses that every program may name. */
export const NAMED_ADDRESSES = [MINER, COLLISION, ...DELEGATED];

export function addressOf(value: bigint): Uint8Array {
  return setLengthLeft(bigIntToUnpaddedBytes(value), 20);
}

function account(fields: Partial<MemoryAccount>): MemoryAccount {
  return {nonce: 0n, balance: 0n, code: new Uint8Array(0), slots: new Map(), ...fields};
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** @param people - further accounts, by address with 0x */
export function randomState(
  hardfork: string,
  people: Readonly<Record<string, Partial<MemoryAccount>>>,
): fc.Arbitrary<MemoryState> {
  const named = [...NAMED_ADDRESSES.map(toHex), ...Object.keys(people)].map(BigInt);
  const program = randomProgram({hardfork, addresses: named});
  const hasDelegations = createCommon(hardfork, 1n).isActivatedEIP(7702);
  const target = fc.constantFrom(...PROGRAM_ADDRESSES, PLAIN_ADDRESS, 4n, ...named);
  return fc
    .record({
      programs: fc.tuple(program, program, program, program),
      balance: fc.constantFrom(0n, 5n, 10n ** 18n),
      delegations: fc.tuple(target, target, target, target),
      collision: fc.constantFrom<Partial<MemoryAccount> | undefined>(
        undefined,
        {balance: 7n},
        {nonce: 1n},
        {code: Uint8Array.of(0)},
        {balance: 1n, slots: new Map([[word(1n), word(1n)]])},
      ),
    })
    .map(({programs, balance, delegations, collision}) => {
      const state = new MemoryState();
      const put = (address: Uint8Array, fields: Partial<MemoryAccount>) =>
        state.accounts.set(toHex(address), account(fields));
      for (const [at, address] of PROGRAM_ADDRESSES.entries())
        put(addressOf(address), {
          nonce: 1n,
          balance,
          code: programs[at] ?? new Uint8Array(0),
          slots: new Map([
            [word(1n), word(1n)],
            [word(2n), word(0xffffn)],
          ]),
        });
      put(addressOf(PLAIN_ADDRESS), {balance: 1n});
      put(MINER, {balance: 1n});
      if (collision !== undefined) put(COLLISION, collision);
      if (hasDelegations)
        for (const [at, address] of DELEGATED.entries()) {
          const to = addressOf(delegations[at] ?? 0n);
          put(address, {nonce: 1n, balance: 3n, code: Buffer.concat([Uint8Array.of(0xef, 1, 0), to])});
        }
      for (const [name, fields] of Object.entries(people)) state.accounts.set(name, account(fields));
      return state;
    });
}
