/** Publishes while the service runs, whenever the chain changes. Failures do not affect serving and following. */
import {setTimeout as sleep} from "node:timers/promises";
import type {Logger} from "pino";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import {FeedStream, StreamMissing} from "../../../nodes/feed/feedStream.ts";
import {connectNats, describeOldServer, type NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {Backoff} from "../../../nodes/rpc/backoff.ts";
import {isSameFailure} from "../../../nodes/rpc/node.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {PublishStateName, PublishStatus} from "../../observe/publishStatus.ts";
import type {PublishSettings} from "../serviceOptions.ts";
import {Publisher, type PublishState} from "./publisher.ts";
import {readPublisherId} from "./publisherId.ts";
import {Snapshots} from "./snapshots.ts";

/** How often the stream is read while the chain does not change: another service may have published. */
const LOOK_MS = 2000;
/** Waits for another publisher. A second message of a block is refused, which costs servers (docs/feed.md). */
const FOLLOWER_MS = 500;
const WAITS = {firstMs: 250, longestMs: 2000};
const CLIENT = "proofd publisher";
const OLD_SERVER = "the NATS server is too old for a feed";

export class Publishing {
  private readonly stopping = new AbortController();
  private readonly unwatch: () => void;
  private readonly backoff = new Backoff(WAITS);
  private wake = (): void => {};
  private hasChanged = false;
  private readonly work: Promise<void>;
  private readonly snapshots: Snapshots;
  /** undefined until NATS was reached. It outlives a connection. */
  private publisher: Publisher | undefined;
  private saidOfServer: string | undefined;

  constructor(
    private readonly directory: string,
    private readonly settings: PublishSettings,
    private readonly engine: Engine,
    private readonly status: PublishStatus,
    private readonly log: Logger,
  ) {
    this.snapshots = new Snapshots(directory, engine.chain, settings, status, log);
    this.unwatch = engine.chain.onChange(() => {
      this.hasChanged = true;
      this.wake();
    });
    this.work = this.run();
  }

  /** Completes the current message. */
  async stop(): Promise<void> {
    this.unwatch();
    this.stopping.abort();
    this.wake();
    // Uploads that wait for NATS fail when the connection is closed.
    await Promise.all([this.snapshots.stop(), this.work]);
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const {signal} = this.stopping;
    while (!signal.aborted) {
      let connection: NatsConnection | undefined;
      try {
        connection = await connectNats(this.settings.nats, CLIENT, signal, ({isUp, reason}) => {
          if (!isUp) this.note("waiting", `NATS: ${reason}`);
        });
        const reason = describeOldServer(connection);
        if (reason !== this.saidOfServer && reason !== undefined) this.log.warn({reason}, OLD_SERVER);
        this.saidOfServer = reason;
        const chain = this.describeChain();
        const stream = await FeedStream.open(connection, this.settings.stream, chain, this.settings.rules);
        this.publisher ??= new Publisher(readPublisherId(this.directory), this.engine.chain);
        await this.publishWhile(this.publisher, connection, stream, chain);
      } catch (error) {
        if (signal.aborted) break;
        // Does it not pass by itself? A missing stream is created again.
        const isLasting = error instanceof FeedError && !(error instanceof StreamMissing);
        this.note(isLasting ? "refused" : "waiting", (error as Error).message);
        await sleep(this.backoff.next(), undefined, {signal}).catch(() => {}); // the loop sees the signal
      } finally {
        await connection?.close();
      }
    }
  }

  private async publishWhile(
    publisher: Publisher,
    connection: NatsConnection,
    stream: FeedStream,
    chain: FeedChain,
  ): Promise<void> {
    const {signal} = this.stopping;
    while (!signal.aborted) {
      this.hasChanged = false;
      const state = await publisher.catchUp(stream, signal);
      this.noteState(state);
      if (state.kind === "published" && state.block >= 0)
        this.snapshots.note(connection, chain, stream, state);
      this.backoff.reset();
      const {isOwn} = publisher;
      if (!this.hasChanged && !signal.aborted) await this.change();
      if (isOwn) continue;
      await sleep(FOLLOWER_MS, undefined, {signal});
      publisher.look();
    }
  }

  /** Resolves when the chain changes, the service stops, or LOOK_MS is over. */
  private change(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(() => {
        this.publisher?.look();
        this.wake();
      }, LOOK_MS);
      this.wake = () => {
        clearTimeout(timer);
        this.wake = () => {};
        resolve();
      };
    });
  }

  private describeChain(): FeedChain {
    const {suite, chainId} = this.engine.chain;
    if (chainId === undefined)
      throw new FeedError("neither block 0 nor --chain-id names the chain, which the stream's subjects do");
    return {suite, chainId};
  }

  private noteState(state: PublishState): void {
    this.status.block = state.block;
    const gap = state.kind === "published" ? this.snapshots.describeGap(state.gap) : "";
    this.note(gap === "" ? state.kind : "incomplete", gap);
  }

  private note(state: PublishStateName, reason: string): void {
    const {status} = this;
    const isKnown = state === status.state && isSameFailure(status.reason, reason);
    status.state = state;
    status.reason = reason;
    if (isKnown) return;
    const {block} = status;
    if (reason === "") this.log.info({state, block}, "publishing");
    else if (state === "incomplete") this.log.warn({state, reason, block}, "the stream has a gap");
    else this.log.warn({state, reason, block}, "nothing is published");
  }
}
