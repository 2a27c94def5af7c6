/**
 * fast-check arbitraries for chains in the NDJSON form of docs/importing.md.
 *
 * Accounts, slots and values come from small pools, so that most changes meet an earlier one. Accounts are created, changed,
 * set to the same value, deleted, reset and created again. Slots are set, changed, zeroed and zeroed again.
 */
import {createHash} from "node:crypto";
import fc from "fast-check";
import type {AccountDifference, DifferenceLine} from "./differenceLine.ts";

/** A chain, and the keys to ask for at each of its blocks. Some of them are never present. */
export interface RandomChain {
  readonly lines: readonly DifferenceLine[];
  readonly addresses: readonly string[];
  readonly slots: readonly bigint[];
  /** Of other accounts, the first few slots are enough: none of their trees grows large. Without it, all slots are asked for. */
  readonly owner?: string;
}

const FEW_SLOTS = 3;

export function slotsOf({slots, owner}: RandomChain, address: string): readonly bigint[] {
  return owner === undefined || owner === address ? slots : slots.slice(0, FEW_SLOTS);
}

interface ForkedChains {
  /** Number of the last block that both have. */
  readonly trunk: number;
  readonly left: RandomChain;
  readonly right: RandomChain;
}

/** A line before it is linked to its parent. */
export type BlockContent = Omit<DifferenceLine, "number" | "hash" | "parentHash"> & {
  readonly namesParent: boolean;
};

const ABSENT_ADDRESSES: readonly string[] = [addressOf(0xabcdef), `0x${"7f".repeat(20)}`];
export const ADDRESSES: readonly string[] = [
  `0x${"00".repeat(20)}`,
  addressOf(1),
  addressOf(2),
  "0xdeadbeef00000000000000000000000000000003",
  "0xc0ffee0000000000000000000000000000000004",
  `0x${"ab".repeat(20)}`,
  `0x${"ff".repeat(20)}`,
];
const ABSENT_SLOTS: readonly bigint[] = [0xabcdefn, 2n ** 200n + 7n];
export const SLOTS: readonly bigint[] = [0n, 1n, 2n, 3n, 2n ** 64n, 2n ** 255n, 2n ** 256n - 1n];
const CODES: readonly string[] = [
  "0x",
  "0x00",
  "0x6001600055",
  `0x${"5b".repeat(33)}`,
  `0x${"fe".repeat(300)}`,
];

function addressOf(n: number): string {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

function spellAddress(address: string, isUpperCase: boolean): string {
  return isUpperCase ? `0x${address.slice(2).toUpperCase()}` : address;
}

export function quantity(n: bigint | number): string {
  return `0x${n.toString(16)}`;
}

const nonces = fc.constantFrom(0n, 1n, 2n, 2n ** 64n - 1n).map(quantity);
const balances = fc.constantFrom(0n, 1n, 10n ** 18n, 2n ** 256n - 1n).map(quantity);
const codes = fc.constantFrom(...CODES);
const slotValues = fc.constantFrom(0n, 0n, 1n, 2n, 2n ** 128n, 2n ** 256n - 1n);

/** Different spellings of one number: a quantity, padded, 32 bytes, upper case. All of them are valid. */
const spellings = fc.constantFrom<(n: bigint) => string>(
  quantity,
  n => `0x${n.toString(16).padStart(64, "0")}`,
  n => `0x${n.toString(16).padStart(10, "0")}`,
  n => `0x${n.toString(16).toUpperCase()}`,
);

function storages(slots: readonly bigint[], maxLength: number): fc.Arbitrary<Record<string, string>> {
  const writes = fc.record({
    slot: fc.constantFrom(...slots),
    value: slotValues,
    spellSlot: spellings,
    spellValue: spellings,
  });
  return fc
    .uniqueArray(writes, {selector: write => write.slot, maxLength})
    .map(unique => Object.fromEntries(unique.map(w => [w.spellSlot(w.slot), w.spellValue(w.value)])));
}

function differences(slots: readonly bigint[]): fc.Arbitrary<AccountDifference | null> {
  const fields = {nonce: nonces, balance: balances, code: codes, storage: storages(slots, 5)};
  return fc.oneof(
    {weight: 7, arbitrary: fc.record(fields, {requiredKeys: []})},
    {weight: 3, arbitrary: fc.record({storage: storages(slots, 7)})},
    {
      weight: 2,
      arbitrary: fc.record({...fields, reset: fc.constant(true as const)}, {requiredKeys: ["reset"]}),
    },
    {weight: 2, arbitrary: fc.constant(null)},
    {weight: 1, arbitrary: fc.constant({})},
  );
}

/** @param maxTouches - accounts per block; many blocks are empty */
export function blockContents(
  addresses: readonly string[],
  slots: readonly bigint[],
  maxTouches: number,
): fc.Arbitrary<BlockContent> {
  const touch = fc.record({
    address: fc.constantFrom(...addresses),
    isUpperCase: fc.boolean(),
    difference: differences(slots),
  });
  const accounts = fc
    .uniqueArray(touch, {selector: t => t.address, maxLength: maxTouches})
    .map(touches =>
      Object.fromEntries(touches.map(t => [spellAddress(t.address, t.isUpperCase), t.difference])),
    );
  const header = {
    timestamp: fc.nat().map(quantity),
    gasLimit: fc.constantFrom("0x1c9c380", "0x0"),
    baseFeePerGas: fc.constant("0x7"),
    miner: fc.constantFrom(...ADDRESSES),
    mixHash: fc.constantFrom(`0x${"00".repeat(32)}`, `0x${"5a".repeat(32)}`),
    extraData: fc.constantFrom("0x", `0x${"11".repeat(97)}`),
    difficulty: fc.constant("0x20000"),
  };
  return fc
    .record({
      accounts,
      namesParent: fc.oneof(
        {weight: 5, arbitrary: fc.constant(true)},
        {weight: 1, arbitrary: fc.constant(false)},
      ),
      header: fc.record(header, {requiredKeys: []}),
    })
    .map(({header: fields, ...content}) => ({...fields, ...content}));
}

/** Numbers the blocks and links them. A block's hash depends on its content and on all blocks before it. */
function linkBlocks(contents: readonly BlockContent[]): DifferenceLine[] {
  let parentHash = `0x${"00".repeat(32)}`;
  return contents.map(({namesParent, ...content}, i) => {
    const text = JSON.stringify([i, parentHash, content]);
    const hash = `0x${createHash("sha256").update(text).digest("hex")}`;
    const line = {number: quantity(i), hash, ...(namesParent ? {parentHash} : {}), ...content};
    parentHash = hash;
    return line;
  });
}

export function toChain(contents: readonly BlockContent[], more: Partial<RandomChain> = {}): RandomChain {
  return {
    ...more,
    lines: linkBlocks(contents),
    addresses: [...ADDRESSES, ...ABSENT_ADDRESSES, ...(more.addresses ?? [])],
    slots: [...SLOTS, ...ABSENT_SLOTS, ...(more.slots ?? [])],
  };
}

/**
 * Few accounts and many blocks, so that everything happens to each account.
 *
 * @param sharesGenesis - block 0 is empty and the same in all of these chains
 */
export function randomChains({
  maxBlocks,
  sharesGenesis = false,
}: {
  readonly maxBlocks: number;
  readonly sharesGenesis?: boolean;
}): fc.Arbitrary<RandomChain> {
  const genesis: BlockContent[] = sharesGenesis ? [{accounts: {}, namesParent: true}] : [];
  return fc
    .array(blockContents(ADDRESSES, SLOTS, 5), {minLength: 1, maxLength: maxBlocks, size: "max"})
    .map(contents => toChain([...genesis, ...contents]));
}

/** A common trunk of at least one block, and two branches that may be empty. */
export function forkedChains({maxBlocks}: {readonly maxBlocks: number}): fc.Arbitrary<ForkedChains> {
  const blocks = (minLength: number) =>
    fc.array(blockContents(ADDRESSES, SLOTS, 5), {minLength, maxLength: maxBlocks, size: "max"});
  return fc.record({trunk: blocks(1), left: blocks(0), right: blocks(0)}).map(({trunk, left, right}) => ({
    trunk: trunk.length - 1,
    left: toChain([...trunk, ...left]),
    right: toChain([...trunk, ...right]),
  }));
}
