/**
 * The measured stores. They are made once and kept between runs, together with what making them cost.
 *
 *   bench-data/<suite>-<accounts>-<blocks>-v<layout>/     relative to the working directory
 *     db/          the store
 *     made.json    StoreFigures
 *
 * A folder gets its name when it is complete, so the rest of an interrupted run is never measured.
 */
import {mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {DEFAULT_SUITE_NAME} from "../../storage/hash/suiteNames.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {type Origin, readOrigin} from "../program/machine.ts";
import {BENCH_FOLDER} from "../program/runFile.ts";
import {LEAF_WRITES_PER_BLOCK, makeBlock, makeBlock0} from "./benchChain.ts";
import {DEFAULT_BLOCKS} from "./storeSize.ts";

/** Raised whenever the chain or the store's format changes, so that kept stores differ from new ones. */
const LAYOUT_VERSION = 4;
/** `proofd serve` gives each worker this much. */
export const CACHE_BYTES = 64 << 20;

/** What making the store cost. */
export interface StoreFigures {
  readonly machine: Origin;
  readonly block0Seconds: number;
  /** Peak memory of the whole process after block 0. */
  readonly peakRssBytes: number;
  /** Median time of the blocks after block 0. Each is synced. */
  readonly blockMs: number;
  readonly bytesPerLeafWrite: number;
}

export interface BenchStore {
  readonly store: StateStore;
  readonly directory: string;
  /** Accounts in block 0. */
  readonly accounts: number;
  /** Blocks after block 0, all finalized: the number of the newest block. */
  readonly blocks: number;
  readonly made: StoreFigures;
}

export async function openBenchStore(suite: string, accounts: number, blocks: number): Promise<BenchStore> {
  const folder = join(BENCH_FOLDER, `${suite}-${accounts}-${blocks}-v${LAYOUT_VERSION}`);
  const figuresPath = join(folder, "made.json");
  let figures = readIfThere(figuresPath);
  if (figures === undefined) {
    const unfinished = `${folder}.unfinished`;
    rmSync(unfinished, {recursive: true, force: true});
    mkdirSync(unfinished, {recursive: true});
    figures = JSON.stringify(await makeStore(join(unfinished, "db"), suite, accounts, blocks), null, 2);
    writeFileSync(join(unfinished, "made.json"), figures);
    renameSync(unfinished, folder);
  }
  const directory = join(folder, "db");
  const store = await StateStore.open({directory, role: "owner", suite, cacheBytes: CACHE_BYTES});
  // A run that was interrupted while it committed leaves blocks on top.
  await store.rollback(blocks);
  return {store, directory, accounts, blocks, made: JSON.parse(figures) as StoreFigures};
}

/** The store that `npm run bench -- --accounts N --blocks M` keeps, for others to copy. @returns its folder */
export async function keepBenchStore(accounts: number, blocks = DEFAULT_BLOCKS): Promise<string> {
  const {store, directory} = await openBenchStore(DEFAULT_SUITE_NAME, accounts, blocks);
  await store.close();
  return directory;
}

async function makeStore(
  directory: string,
  suite: string,
  accounts: number,
  blocks: number,
): Promise<StoreFigures> {
  const store = await StateStore.open({
    directory,
    role: "owner",
    createIfMissing: true,
    suite,
    cacheBytes: CACHE_BYTES,
  });
  const writer = await BlockWriter.create(store);
  const block0 = makeBlock0(accounts);
  const startMs = performance.now();
  await writer.apply(block0);
  await writer.flush();
  const block0Seconds = (performance.now() - startMs) / 1000;
  const peakRssBytes = process.resourceUsage().maxRSS * 1024;

  const bytesBefore = writer.bytesWritten;
  const blockTimes: number[] = [];
  for (let number = 1; number <= blocks; number++) {
    const block = makeBlock(number, accounts);
    const blockStartMs = performance.now();
    await writer.apply(block);
    writer.markFinalized(number);
    await writer.flush();
    blockTimes.push(performance.now() - blockStartMs);
  }
  const bytesPerLeafWrite = (writer.bytesWritten - bytesBefore) / (blocks * LEAF_WRITES_PER_BLOCK);
  await store.close();
  const blockMs = blockTimes.sort((a, b) => a - b)[blocks >> 1] as number;
  return {machine: readOrigin(), block0Seconds, peakRssBytes, blockMs, bytesPerLeafWrite};
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
