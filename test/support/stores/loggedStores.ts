/** Two stores of the same blocks whose records stand in LevelDB's log: in one batch, and in a batch for each block. */
import assert from "node:assert/strict";
import {cp, readdir, readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import type {ImportOutcome} from "../../../workers/messages/importJob.ts";
import type {ImportSource} from "../../../workers/messages/importSource.ts";
import {encodeLines} from "../chains/differenceLine.ts";
import {longChain} from "../chains/longChain.ts";
import {makeTemporaryFolder} from "../temporaryFolder.ts";
import {hashFiles} from "./fileTree.ts";
import {importInto, importSource, openEngine, openOwned} from "./importedStore.ts";

/** The file that names the newest acknowledged block. */
export const NOTE = "ACKNOWLEDGED";
export const BLOCKS = 12;

export class LoggedStores {
  readonly folder: string;
  readonly bulk: string;
  readonly single: string;
  /** The notes of `single` as they were after each block. */
  readonly notes: Buffer[] = [];
  /** The size of its log then. */
  readonly sizes: number[] = [];
  private copies = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.bulk = join(folder, "bulk");
    this.single = join(folder, "single");
  }

  static async create(): Promise<LoggedStores> {
    const stores = new LoggedStores(makeTemporaryFolder());
    const {bulk, single} = stores;
    await stores.importBlocks(bulk, BLOCKS);
    const store = await openOwned(single);
    for (let blocks = 1; blocks <= BLOCKS; blocks++) {
      mustBeDone(await importInto(store, await stores.sourceOf(blocks), {finalized: 0}));
      stores.notes.push(await readFile(join(single, NOTE)));
      stores.sizes.push((await readFile(join(single, await logOf(single)))).length);
    }
    await store.close();
    return stores;
  }

  async writeBlocks(blocks: number): Promise<string> {
    const path = join(this.folder, `blocks-${blocks}.ndjson`);
    await writeFile(path, encodeLines(longChain(blocks, 60)));
    return path;
  }

  async importBlocks(directory: string, blocks: number): Promise<void> {
    mustBeDone(await importSource(directory, await this.sourceOf(blocks), {finalized: 0}));
  }

  async copyOf(store: string): Promise<string> {
    const directory = join(this.folder, `copy-${++this.copies}`);
    await cp(store, directory, {recursive: true});
    return directory;
  }

  private async sourceOf(blocks: number): Promise<ImportSource> {
    return {kind: "diffs", path: await this.writeBlocks(blocks)};
  }
}

function mustBeDone(outcome: ImportOutcome): void {
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
}

export async function logOf(directory: string): Promise<string> {
  const names = (await readdir(directory)).filter(name => name.endsWith(".log"));
  assert.equal(names.length, 1, names.join(", "));
  return names[0] as string;
}

export async function latestOf(directory: string): Promise<number | undefined> {
  const engine = await openEngine(directory);
  const {latest} = engine.chain.head();
  await engine.close();
  return latest;
}

/** The store does not open, and is left as it was. */
export async function assertRefused(directory: string, message: RegExp, what = ""): Promise<void> {
  const before = await hashFiles(directory);
  await assert.rejects(openEngine(directory), (error: Error & {code?: string}) => {
    assert.equal(error.code, "STORE_DAMAGED", `${what} ${error.stack}`);
    assert.match(error.message, message, what);
    return true;
  });
  assert.deepEqual(await hashFiles(directory), before, `${what} changed the store`);
}
