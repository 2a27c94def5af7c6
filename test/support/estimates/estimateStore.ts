/** A store for gas estimates, in a folder of its own. Blocks are imported as differences, and calls are estimated on them. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {StateStore} from "../../../storage/stateStore.ts";
import {Engine, type EstimateOptions} from "../../../workers/engine.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {
  DEFAULT_ESTIMATE_SETTINGS,
  type EstimateSettings,
} from "../../../workers/messages/estimateSettings.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";
import "../processes/testProcess.ts";
import {makeTemporaryFolder} from "../temporaryFolder.ts";

export const CHAIN_ID = 1337n;
export const BLOCK_GAS_LIMIT = 50_000_000;

export const SETTINGS: EstimateSettings = {...DEFAULT_ESTIMATE_SETTINGS, hardfork: "prague"};

/** A call without fee, value or data. */
export const PLAIN_CALL: EstimateCall = {block: 0, value: 0n, data: new Uint8Array(0), type: 0};

export class EstimateStore {
  readonly directory: string;
  private readonly folder: string;
  private blocks = 0;
  private engine: Engine;

  private constructor(folder: string, directory: string, engine: Engine) {
    this.folder = folder;
    this.directory = directory;
    this.engine = engine;
  }

  static async create(suite?: string): Promise<EstimateStore> {
    const folder = makeTemporaryFolder();
    const directory = join(folder, "db");
    return new EstimateStore(folder, directory, await openPool(directory, undefined, suite));
  }

  async addBlock(content: Omit<DifferenceLine, "number" | "hash">): Promise<number> {
    const number = this.blocks++;
    const path = join(this.folder, "block.ndjson");
    const hash = `0x${createHash("sha256").update(`block ${number}`).digest("hex")}`;
    const line = {
      number: `0x${number.toString(16)}`,
      hash,
      timestamp: `0x${(1_700_000_000 + number).toString(16)}`,
      gasLimit: `0x${BLOCK_GAS_LIMIT.toString(16)}`,
      ...content,
    };
    await writeFile(path, encodeLines([line]));
    const source = {kind: "diffs", path} as const;
    const outcome = await this.engine.startImport(
      {source, allowUnverified: true, chainId: CHAIN_ID},
      () => {},
    ).outcome;
    assert.equal(outcome.ok, true, outcome.ok ? "" : outcome.message);
    return number;
  }

  /** Another handle on the store; the caller closes it. */
  share(): Promise<StateStore> {
    return StateStore.open({directory: this.directory, role: "sharer", cacheBytes: 1 << 22});
  }

  /** Replaces the engine that was there. */
  async openPool(estimates: EstimateOptions): Promise<Engine> {
    await this.engine.close();
    this.engine = await openPool(this.directory, estimates);
    return this.engine;
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

function openPool(directory: string, estimates?: EstimateOptions, suite?: string): Promise<Engine> {
  return Engine.open({
    directory,
    suite,
    workers: 0,
    cacheBytes: 1 << 22,
    createIfMissing: true,
    chainId: CHAIN_ID,
    ...(estimates === undefined ? {} : {estimates}),
  });
}
