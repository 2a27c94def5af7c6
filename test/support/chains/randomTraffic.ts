/** Random programs in block 0 of a chain, and transactions that call them. */
import fc from "fast-check";
import {toHex} from "../../../storage/hex.ts";
import {PROGRAM_ADDRESSES, randomProgram} from "../estimates/randomPrograms.ts";
import {PEOPLE, type Sent} from "./people.ts";

export interface RandomTraffic {
  /** As in a genesis file. */
  readonly alloc: Readonly<Record<string, object>>;
  /** Transactions by block. */
  readonly blocks: readonly (readonly Sent[])[];
}

const programAt = (position: number): string =>
  `0x${(PROGRAM_ADDRESSES[position] as bigint).toString(16).padStart(40, "0")}`;

const transaction: fc.Arbitrary<Sent> = fc.record({
  from: fc.integer({min: 0, max: PEOPLE.length - 1}),
  to: fc.integer({min: 0, max: PROGRAM_ADDRESSES.length - 1}).map(programAt),
  value: fc.constantFrom(0n, 0n, 1n, 1000n),
  gas: fc.constantFrom(60_000n, 300_000n, 900_000n),
});

/** @param hardfork - that the chain has from block 1 on */
export function randomTraffic(
  hardfork: string,
  blocks: {readonly minLength: number; readonly maxLength: number},
): fc.Arbitrary<RandomTraffic> {
  const abilities = {hardfork, addresses: []};
  return fc.record({
    alloc: fc.tuple(...PROGRAM_ADDRESSES.map(() => randomProgram(abilities))).map(allocate),
    blocks: fc.array(fc.array(transaction, {minLength: 1, maxLength: 6}), blocks),
  });
}

function allocate(codes: readonly Uint8Array[]): RandomTraffic["alloc"] {
  const storage = {[`0x${"0".repeat(63)}1`]: `0x${"07".padStart(64, "0")}`};
  return Object.fromEntries(
    codes.map((code, position) => [
      programAt(position),
      {code: toHex(code), balance: "0x10", nonce: "0x1", storage},
    ]),
  );
}
