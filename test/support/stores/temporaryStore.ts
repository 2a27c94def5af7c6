/** A store in its own folder in the system's temporary folder, opened through the real engine. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {type FileHandle, mkdtemp, open, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import type {SuiteName} from "../../../storage/hash/suiteNames.ts";
import {Engine} from "../../../workers/engine.ts";
import type {ImportJob, ImportOutcome} from "../../../workers/messages/importJob.ts";
import type {Running} from "../../../workers/threads/running.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";
import {encodeHexLines, encodeJsonLines, type LoggedBlock} from "../chains/loggedBlock.ts";
import "../processes/testProcess.ts";
import {importLines} from "./importedStore.ts";

const CHAIN_ID = 1337n;

export class TemporaryStore {
  private readonly folder: string;
  private readonly suite: SuiteName;
  private readonly workers: number;
  /** Open for writing since `follow`. */
  private pipe: FileHandle | undefined;
  engine: Engine;

  private constructor(folder: string, suite: SuiteName, workers: number, engine: Engine) {
    this.folder = folder;
    this.suite = suite;
    this.workers = workers;
    this.engine = engine;
  }

  static async create(suite: SuiteName = "sha256", workers = 1): Promise<TemporaryStore> {
    return TemporaryStore.made(suite, async () => {}, workers);
  }

  /** A store of these blocks, without proof threads. */
  static async filled(
    lines: readonly DifferenceLine[],
    suite: SuiteName = "sha256",
  ): Promise<TemporaryStore> {
    const fill = (directory: string) => importLines(directory, lines, {suite, chainId: CHAIN_ID});
    return TemporaryStore.made(suite, fill, 0);
  }

  /** A store that `fill` made in the folder it is given. */
  static async made(
    suite: SuiteName,
    fill: (directory: string) => Promise<void>,
    workers = 1,
  ): Promise<TemporaryStore> {
    const folder = await mkdtemp(join(tmpdir(), "proofd-property-"));
    await fill(join(folder, "db"));
    return new TemporaryStore(folder, suite, workers, await openPool(folder, suite, workers));
  }

  /** Closes the store when `work` has ended. */
  static async use<Result>(
    suite: SuiteName,
    work: (store: TemporaryStore) => Promise<Result>,
  ): Promise<Result> {
    const store = await TemporaryStore.create(suite);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  async reopen(): Promise<void> {
    await this.engine.close();
    this.engine = await openPool(this.folder, this.suite, this.workers);
  }

  /** @param finalized - as in ImportJob; default: as the lines say */
  async importLines(
    lines: readonly DifferenceLine[],
    finalized?: ImportJob["finalized"],
  ): Promise<ImportOutcome> {
    const path = join(this.folder, "blocks.ndjson");
    await writeFile(path, encodeLines(lines));
    const source = {kind: "diffs", path} as const;
    const job = {source, allowUnverified: true, chainId: CHAIN_ID, finalized};
    return await this.engine.startImport(job, () => {}).outcome;
  }

  /** Every block is finalized. @param isHex - lines of digits, not of JSON */
  async importTrieLogs(blocks: readonly LoggedBlock[], isHex = false): Promise<ImportOutcome> {
    const path = join(this.folder, "trielogs");
    await writeFile(path, isHex ? encodeHexLines(blocks) : encodeJsonLines(blocks));
    const source = {kind: "trielogs", path, genesisPath: undefined} as const;
    return await this.engine.startImport(
      {source, allowUnverified: true, chainId: CHAIN_ID, finalized: "last"},
      () => {},
    ).outcome;
  }

  /** As importLines, but a failed import fails the test. */
  async mustImport(lines: readonly DifferenceLine[], finalized?: ImportJob["finalized"]): Promise<void> {
    const outcome = await this.importLines(lines, finalized);
    assert.equal(outcome.ok, true, outcome.ok ? "" : outcome.message);
    assert.equal(outcome.head.latest, lines.length === 0 ? undefined : Number(lines.at(-1)?.number));
  }

  /** Starts to import from a pipe, into which `append` writes lines. @param finalized - as in ImportJob */
  async follow(finalized: number): Promise<Running<ImportOutcome>> {
    await this.pipe?.close();
    const path = join(this.folder, "pipe");
    await rm(path, {force: true});
    execFileSync("mkfifo", [path]);
    this.pipe = await open(path, "r+");
    const source = {kind: "diffs", path} as const;
    return this.engine.startImport({source, allowUnverified: true, chainId: CHAIN_ID, finalized}, () => {});
  }

  async append(lines: readonly DifferenceLine[]): Promise<void> {
    const last = Number(lines.at(-1)?.number);
    const {chain} = this.engine;
    const held = new Promise<void>(resolve => {
      const unwatch = chain.onChange(({latest}) => {
        if (latest !== last) return;
        unwatch();
        resolve();
      });
    });
    await this.pipe?.writeFile(encodeLines(lines));
    if (chain.head().latest !== last) await held;
  }

  get directory(): string {
    return join(this.folder, "db");
  }

  async close(): Promise<void> {
    await this.pipe?.close();
    await this.engine.close();
    await rm(this.folder, {recursive: true});
  }
}

function openPool(folder: string, suite: SuiteName, workers: number): Promise<Engine> {
  const directory = join(folder, "db");
  return Engine.open({directory, suite, workers, cacheBytes: 1 << 20, createIfMissing: true});
}
