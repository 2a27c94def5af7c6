/** Finality of a store by a rollup contract on anvil, in the test's own thread. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {pino} from "pino";
import type {NodesSettings} from "../../../nodes/rpc/nodes.ts";
import {type RunningFinality, startFinality} from "../../../server/lifecycle/finality/finality.ts";
import type {Layer1Settings} from "../../../server/lifecycle/finality/layer1Finality.ts";
import {createLines} from "../chains/serviceLines.ts";
import {notRun} from "../processes/notRun.ts";
import {TemporaryStore} from "../stores/temporaryStore.ts";
import {waitUntil} from "../wait.ts";
import {Layer1} from "./rollupContract.ts";

const POLL_MS = 50;

export class FollowedFinality {
  readonly store: TemporaryStore;
  readonly contract: Layer1;
  /** Its log, a line of JSON each. */
  log = "";
  private running: RunningFinality | undefined;

  constructor(store: TemporaryStore, contract: Layer1) {
    this.store = store;
    this.contract = contract;
  }

  get status(): RunningFinality["status"] {
    return (this.running as RunningFinality).status;
  }

  /** Of the block held. */
  root(block: number): Uint8Array {
    const held = this.store.engine.chain.readBlock(block);
    return "stateRoot" in held ? held.stateRoot : assert.fail(held.detail);
  }

  /** Layer 1 finalizes these blocks with the roots held here, unless it is given another. @returns its block */
  async finalize(
    start: number,
    end: number,
    final = this.root(end),
    parent = this.root(start - 1),
  ): Promise<number> {
    const {blockNumber} = await this.contract.finalize(start, end, parent, final);
    return Number(blockNumber);
  }

  start(
    settings: Partial<Layer1Settings> = {},
    urls = [this.contract.anvil.url],
    layer2?: readonly string[],
  ): void {
    this.log = "";
    const write = (line: string): void => {
      this.log += line;
    };
    const contract = Buffer.from(this.contract.address.slice(2), "hex");
    const rollup = {contract, from: undefined, depth: undefined, root: undefined, ...settings};
    const options = {
      source: "l1",
      nodes: nodesOf(urls),
      layer2: layer2 === undefined ? undefined : nodesOf(layer2),
      rollup,
      pollMs: POLL_MS,
    } as const;
    const {engine} = this.store;
    this.running = startFinality(options, engine, pino({level: "info", base: null}, {write}));
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    this.running = undefined;
  }

  async restart(
    settings: Partial<Layer1Settings> = {},
    ...nodes: [urls?: string[], layer2?: string[]]
  ): Promise<void> {
    await this.stop();
    await this.store.reopen();
    this.start(settings, ...nodes);
  }

  async finalizedAt(block: number): Promise<void> {
    await waitUntil(`block ${block} to be final`, () => this.finalized === block);
  }

  async logged(line: RegExp): Promise<void> {
    await waitUntil(`a log with ${line}`, () => line.test(this.log));
  }

  get finalized(): number {
    return this.store.engine.chain.head().finalized ?? -1;
  }

  get ends(): number[] {
    return Array.from(this.store.engine.chain.finalizations.list(0, 100), ({endBlock}) => endBlock);
  }
}

function nodesOf(urls: readonly string[]): NodesSettings {
  return {urls, headers: {}, timeoutMs: 10_000, maxAnswerBytes: 1 << 20};
}

type Layer1Test = (
  title: string,
  latest: number,
  work: (followed: FollowedFinality) => Promise<void>,
) => void;

/** Of a test file: one layer 1; each test has its own contract, and a store of blocks 0 to `latest` of which none is finalized. */
export function createLayer1Test(): Layer1Test {
  let layer1: Layer1 | string;
  before(async () => {
    layer1 = await Layer1.start();
  });
  after(async () => {
    if (layer1 instanceof Layer1) await layer1.stop();
  });
  return (title, latest, work) => {
    test(title, async t => {
      if (typeof layer1 === "string") return notRun(t, layer1);
      const store = await TemporaryStore.filled(createLines(0, latest));
      const followed = new FollowedFinality(store, await layer1.deploy());
      try {
        await work(followed);
      } finally {
        await followed.stop();
        await store.close();
      }
    });
  };
}
