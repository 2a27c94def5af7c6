/**
 * Recovers the senders of blocks on another thread, while earlier blocks are executed. Recovery is two thirds of the
 * time of an execution. Nothing waits for the thread: the executing thread recovers a sender that is still missing.
 *
 *   ask(block)   ->   the thread writes one sender after the other   ->   find(block, position)   ->   drop(block)
 */
import {Worker} from "node:worker_threads";
import {SharedSenders} from "./sharedSenders.ts";

/** The thread starts after this many bytes of blocks: before, its start would cost more than it saves. */
const WORTH_BYTES = 256 << 10;
/** Of copies of blocks in the queue. Others are not asked for. */
const MOST_WAITING_BYTES = 8 << 20;
const MOST_WAITING = 256;
/** The thread ends after this time without a block. */
const IDLE_MS = 10_000;
/** MiB of garbage before it is collected. */
const YOUNG_MB = 4;

export interface SenderRequest {
  /** RLP. */
  readonly block: Uint8Array;
  /** Of SharedSenders, for the block's. */
  readonly memory: SharedArrayBuffer;
}

export class SendersAhead {
  private worker: Worker | undefined;
  private readonly asked = new WeakMap<Uint8Array, SharedSenders>();
  /** Blocks that the thread has perhaps not begun, in order. */
  private readonly waiting: {readonly bytes: number; readonly senders: SharedSenders}[] = [];
  private waitingBytes = 0;
  private bytesSeen = 0;
  private hasDied = false;
  private idle: NodeJS.Timeout | undefined;

  /** @param onDeath - called at most once, if the thread ends by itself */
  constructor(
    private readonly chainId: bigint,
    private readonly onDeath: (reason: string) => void,
  ) {}

  /** @param block - RLP, which must not change. `find` takes the same object */
  ask(block: Uint8Array): void {
    const bytes = block.length;
    this.bytesSeen += bytes;
    if (this.hasDied || this.bytesSeen < WORTH_BYTES) return;
    while (this.waiting[0]?.senders.isWaiting === false)
      this.waitingBytes -= this.waiting.shift()?.bytes ?? 0;
    if (this.waiting.length >= MOST_WAITING || this.waitingBytes + bytes > MOST_WAITING_BYTES) return;
    this.worker ??= this.start();
    this.idle?.refresh();
    const senders = SharedSenders.create(bytes);
    const copy = new Uint8Array(block);
    const request: SenderRequest = {block: copy, memory: senders.memory};
    this.worker.postMessage(request, [copy.buffer]);
    this.asked.set(block, senders);
    this.waiting.push({bytes, senders});
    this.waitingBytes += bytes;
  }

  /** @returns 20 bytes; undefined: unknown */
  find(block: Uint8Array, position: number): Uint8Array | undefined {
    return this.asked.get(block)?.find(position);
  }

  /** Ends the recovery of the block's senders. */
  drop(block: Uint8Array): void {
    this.asked.get(block)?.end();
  }

  /** Resolves when the thread has ended. */
  async close(): Promise<void> {
    const {worker} = this;
    this.worker = undefined;
    clearTimeout(this.idle);
    this.waiting.length = 0;
    this.waitingBytes = 0;
    this.bytesSeen = 0;
    await worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(new URL("./senderWorker.js", import.meta.url), {
      workerData: this.chainId,
      resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
    });
    worker.unref();
    let reason = "it ended by itself";
    worker.on("error", error => {
      reason = error.message;
    });
    worker.on("exit", () => {
      if (this.worker !== worker) return;
      this.hasDied = true;
      void this.close();
      this.onDeath(reason);
    });
    this.idle = setTimeout(() => void this.close(), IDLE_MS).unref();
    return worker;
  }
}
