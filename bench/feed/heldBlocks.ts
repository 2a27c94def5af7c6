/**
 * What each step of a feed costs for a block, on one thread and one after the other: from the trees of the publisher's store to the disk
 * of the replica's.
 */
import {join} from "node:path";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {readHeldDifference} from "../../storage/block/heldDifference.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {decodeDifference, encodeDifference} from "../../sync/feed/differenceBytes.ts";
import {
  type BlockHead,
  type BlockPart,
  decodeMessage,
  encodeBlock,
  type FeedChain,
  unpackDifference,
} from "../../sync/feed/feedMessage.ts";
import {Yardstick} from "../program/yardstick.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {BENCH_CHAIN} from "../stages/benchContracts.ts";
import {CACHE_BYTES} from "../stages/benchStore.ts";
import {withStream} from "./benchStream.ts";

/** Milliseconds a block, and processor time of this process in them. */
interface StepCost {
  readonly step: string;
  readonly ms: number;
  readonly cpuMs: number;
}

interface HeldCosts {
  readonly steps: readonly StepCost[];
  /** Of a message of a block, on average. */
  readonly messageBytes: number;
  /** Before compression. */
  readonly unpackedBytes: number;
  /** Of one hash of 64 bytes, between the steps. */
  readonly hashUs: number;
}

/** Blocks before the measured ones: code is compiled meanwhile. */
const WARM_BLOCKS = 50;
const NO_HASH = new Uint8Array(32);
const HASHES_PER_LOOK = 500;
const FLUSH_MS = 1000;

/** @param directory - of the publisher's store, which nobody has open. @param folder - for the replica's store */
export async function measureHeldBlocks(
  directory: string,
  folder: string,
  nats: ServerProcess,
): Promise<HeldCosts> {
  const store = await StateStore.open({directory, role: "owner", cacheBytes: CACHE_BYTES});
  const copy = await StateStore.open({
    directory: join(folder, "copy"),
    role: "owner",
    createIfMissing: true,
    suite: store.reader.suite.name,
    cacheBytes: CACHE_BYTES,
  });
  try {
    const run = new HeldRun(store, await BlockWriter.create(copy), (await store.reader.latest()) ?? 0);
    return await run.measure(nats);
  } finally {
    await copy.close();
    await store.close();
  }
}

class HeldRun {
  private readonly steps: StepCost[] = [];
  private readonly yardstick = new Yardstick(HASHES_PER_LOOK, 0);
  private readonly chain: FeedChain;

  constructor(
    private readonly store: StateStore,
    private readonly writer: BlockWriter,
    private readonly latest: number,
  ) {
    this.chain = {suite: store.reader.suite.name, chainId: BENCH_CHAIN.chainId as bigint};
  }

  async measure(nats: ServerProcess): Promise<HeldCosts> {
    const {reader} = this.store;
    await this.writer.apply(readHeldDifference(reader, 0));
    await this.writer.flush();
    const numbers = Array.from({length: this.latest}, (_, at) => at + 1);
    const read = await this.time("read a block's changes from the trees", numbers, number =>
      readHeldDifference(reader, number),
    );
    const encoded = await this.time("encode them", read, difference => encodeDifference(difference));
    const messages = await this.time("compress them into a message", encoded, (bytes, at) =>
      encodeBlock(this.chain, this.headOf(read[at] as BlockDifference), bytes),
    );
    const bodies = messages.flat();
    await this.passThrough(nats, bodies);
    const unpacked = await this.time("parse and unpack a message", bodies, bytes => {
      const part = decodeMessage(this.chain, bytes) as BlockPart;
      return {part, unpacked: unpackDifference(part, part.piece)};
    });
    const decoded = await this.time("decode it", unpacked, ({part, unpacked}) =>
      decodeDifference({number: part.number, hash: part.hash, stateRoot: part.stateRoot}, unpacked),
    );
    await this.commit(decoded);
    const mean = (lengths: readonly Uint8Array[]) =>
      lengths.reduce((sum, {length}) => sum + length, 0) / lengths.length;
    return {
      steps: this.steps,
      messageBytes: mean(bodies),
      unpackedBytes: mean(encoded),
      hashUs: this.yardstick.medianUs,
    };
  }

  /** Publishes the messages one by one, as a publisher does, and takes them back. */
  private passThrough(nats: ServerProcess, bodies: readonly Buffer[]): Promise<void> {
    return withStream(nats, "bench", this.chain.suite, async stream => {
      let last = 0;
      await this.time("publish a message", bodies, async (body, at) => {
        last = await stream.publish("blocks", body, `${at}`, last);
      });
      const messages = stream.read(1, new AbortController().signal);
      await this.time("take a message from the stream", bodies, () => messages.next());
      await messages.return(undefined);
    });
  }

  /** Several blocks share a synced write, as in an import. */
  private async commit(blocks: readonly BlockDifference[]): Promise<void> {
    let flushedAt = performance.now();
    await this.time("commit a block", blocks, async (difference, at) => {
      await this.writer.apply(difference);
      const isDue = this.writer.isFull || performance.now() - flushedAt > FLUSH_MS;
      if (!isDue && at !== WARM_BLOCKS - 1 && at !== blocks.length - 1) return;
      await this.writer.flush();
      flushedAt = performance.now();
    });
  }

  private headOf({header, expectedStateRoot = NO_HASH}: BlockDifference): BlockHead {
    const {number, hash} = header;
    return {number, hash, parentHash: NO_HASH, stateRoot: expectedStateRoot, isVerified: true};
  }

  /** Performs a step for all blocks. Those after the first WARM_BLOCKS count. */
  private async time<From, To>(
    step: string,
    blocks: readonly From[],
    perform: (block: From, at: number) => To | Promise<To>,
  ): Promise<To[]> {
    const results: To[] = [];
    let [startMs, startCpu] = [performance.now(), process.cpuUsage()];
    for (const [at, block] of blocks.entries()) {
      if (at === WARM_BLOCKS) [startMs, startCpu] = [performance.now(), process.cpuUsage()];
      results.push(await perform(block, at));
    }
    const {user, system} = process.cpuUsage(startCpu);
    const count = blocks.length - WARM_BLOCKS;
    this.steps.push({
      step,
      ms: (performance.now() - startMs) / count,
      cpuMs: (user + system) / 1000 / count,
    });
    this.yardstick.lookIfDue();
    return results;
  }
}
