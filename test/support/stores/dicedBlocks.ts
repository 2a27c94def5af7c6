/** Random blocks in a store of their own: few accounts that are changed, deleted and made again, with few or many slots. */
import {createHash} from "node:crypto";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import type {Random} from "../../../load/requests/random.ts";
import type {AccountChange} from "../../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import type {SuiteName} from "../../../storage/hash/suiteNames.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {reachablePages} from "./reachablePages.ts";

const SLOTS = 45;

export function bytes(length: number, text: string): Uint8Array {
  return createHash("sha512").update(text).digest().subarray(0, length);
}

function randomChange(dice: Random): AccountChange | undefined {
  if (dice.below(7) === 0) return undefined;
  const isBusy = dice.below(3) === 0;
  const slots = new Set(Array.from({length: dice.below(isBusy ? SLOTS : 3)}, () => dice.below(SLOTS)));
  const storage = [...slots].map(slot => ({
    slot: bytes(32, `slot ${slot}`),
    value: new Uint8Array(32).fill(dice.below(3), 31),
  }));
  return {
    balance: BigInt(dice.below(1000)),
    ...(dice.below(6) === 0 ? {reset: true} : {}),
    ...(storage.length > 0 ? {storage} : {}),
  };
}

/** What a block has besides its random changes. */
interface BlockParts {
  readonly hash?: Uint8Array;
  readonly expectedStateRoot?: Uint8Array;
}

/** Applies block `number`, with up to `accounts` changed ones. */
export async function applyBlock(
  writer: BlockWriter,
  number: number,
  dice: Random,
  accounts: number,
  {hash = bytes(32, `block ${number}`), expectedStateRoot}: BlockParts = {},
): Promise<void> {
  const differences = new AccountDifferences();
  const isQuiet = dice.below(4) === 0;
  const touched = new Set(
    Array.from({length: isQuiet ? dice.below(2) : dice.below(accounts)}, () => dice.below(accounts)),
  );
  for (const account of touched)
    differences.add({address: bytes(20, `account ${account}`), change: randomChange(dice)});
  await writer.apply({
    header: {number, hash},
    accounts: differences,
    ...(number === 0 ? {chain: {}} : {}),
    ...(expectedStateRoot === undefined ? {} : {expectedStateRoot}),
  });
}

export async function withStore(
  suite: SuiteName,
  use: (open: () => Promise<StateStore>) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "proofd-pruning-"));
  try {
    await use(() =>
      StateStore.open({directory, role: "owner", createIfMissing: true, suite, cacheBytes: 1 << 16}),
    );
  } finally {
    await rm(directory, {recursive: true});
  }
}

/** The pages of each block, by block: numbers and bytes. */
export function digestOf(store: StateStore, block: number): string {
  const hash = createHash("sha256");
  for (const page of reachablePages(store.reader, [block]))
    hash.update(`${page}:`).update(store.reader.pages.read(page));
  return hash.digest("hex");
}
