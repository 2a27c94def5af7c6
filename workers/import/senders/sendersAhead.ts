/**
 * Recovers the senders of blocks on a thread of its own, while the blocks before them are executed. Recovery is two thirds of what
 * a block takes to execute.
 *
 *   ask(block)   ->   the thread writes one sender after the other   ->   find(block, position)   ->   drop(block)
 *
 * Nothing waits for the thread: a sender that is not there yet is recovered by the thread that executes. It is the same for all of
 * them once the thread has died.
 */
import {MessageChannel, receiveMessageOnPort, Worker} from "node:worker_threads";
import {SharedSenders} from "./sharedSenders.ts";
import type {SenderAnswer, SenderRequest, SenderThreadSettings} from "./threadMessages.ts";

/** The thread starts after so many bytes of blocks: an import of fewer would not gain what the start takes. */
const WORTH_BYTES = 256 << 10;
/** Of copies of blocks that wait for the thread. Other blocks are not asked for. */
const MOST_WAITING_BYTES = 8 << 20;
const MOST_WAITING = 256;
/** It ends when nothing was asked for so long. */
const IDLE_MS = 10_000;
/** MiB of garbage before it is collected. */
const YOUNG_MB = 4;

interface Asked {
  readonly id: number;
  readonly bytes: number;
  /** undefined: the thread has not begun. */
  senders: SharedSenders | undefined;
}

interface Running {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly done: Int32Array;
}

type MessagePort = MessageChannel["port1"];

export class SendersAhead {
  private running: Running | undefined;
  private readonly asked = new WeakMap<Uint8Array, Asked>();
  /** By id: those that the thread has not begun. */
  private readonly waiting = new Map<number, Asked>();
  private waitingBytes = 0;
  private lastId = 0;
  private bytesSeen = 0;
  private hasDied = false;
  private idle: NodeJS.Timeout | undefined;

  /** @param onDeath - called at most once, if the thread ends by itself */
  constructor(
    private readonly chainId: bigint,
    private readonly onDeath: (reason: string) => void,
  ) {}

  /** @param block - RLP, which must not change. It is a key too: `find` takes the same object */
  ask(block: Uint8Array): void {
    this.bytesSeen += block.length;
    if (this.hasDied || this.bytesSeen < WORTH_BYTES) return;
    this.readAnswers();
    const isFull = this.waiting.size >= MOST_WAITING || this.waitingBytes + block.length > MOST_WAITING_BYTES;
    if (isFull) return;
    this.running ??= this.start();
    this.idle?.refresh();
    const asked: Asked = {id: ++this.lastId, bytes: block.length, senders: undefined};
    this.asked.set(block, asked);
    this.waiting.set(asked.id, asked);
    this.waitingBytes += asked.bytes;
    const request: SenderRequest = {id: asked.id, block: new Uint8Array(block)};
    this.running.port.postMessage(request, [request.block.buffer as ArrayBuffer]);
  }

  /** @returns 20 bytes; undefined: not known */
  find(block: Uint8Array, position: number): Uint8Array | undefined {
    const asked = this.asked.get(block);
    if (asked === undefined) return undefined;
    if (asked.senders === undefined) this.readAnswers();
    return asked.senders?.find(position);
  }

  /** The block's senders are of no more use. */
  drop(block: Uint8Array): void {
    const asked = this.asked.get(block);
    if (asked === undefined || this.running === undefined) return;
    const {done} = this.running;
    Atomics.store(done, asked.id % done.length, asked.id);
  }

  /** Resolves when the thread has ended. */
  async close(): Promise<void> {
    const {running} = this;
    this.running = undefined;
    clearTimeout(this.idle);
    this.waiting.clear();
    this.waitingBytes = 0;
    this.bytesSeen = 0;
    running?.port.close();
    await running?.worker.terminate();
  }

  private start(): Running {
    const {port1, port2} = new MessageChannel();
    // Each id that may be waiting has its own place.
    const done = new Int32Array(new SharedArrayBuffer(4 * 2 * MOST_WAITING));
    const workerData: SenderThreadSettings = {port: port2, done, chainId: this.chainId};
    const worker = new Worker(new URL("./senderWorker.js", import.meta.url), {
      workerData,
      transferList: [port2],
      resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
    });
    worker.unref();
    const running = {worker, port: port1, done};
    let reason = "it ended by itself";
    worker.on("error", error => {
      reason = error.message;
    });
    worker.on("exit", () => {
      if (this.running !== running) return;
      this.hasDied = true;
      void this.close();
      this.onDeath(reason);
    });
    this.idle = setTimeout(() => void this.close(), IDLE_MS).unref();
    return running;
  }

  private readAnswers(): void {
    const {running} = this;
    if (running === undefined) return;
    for (;;) {
      const received = receiveMessageOnPort(running.port) as {readonly message: SenderAnswer} | undefined;
      if (received === undefined) return;
      const {id, senders} = received.message;
      const asked = this.waiting.get(id);
      if (asked === undefined) continue;
      this.waiting.delete(id);
      this.waitingBytes -= asked.bytes;
      if (senders.byteLength > 0) asked.senders = new SharedSenders(senders);
    }
  }
}
