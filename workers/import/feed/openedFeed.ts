/** Opens a feed as the source of an import: a stream of NATS JetStream, read from where this store stands. */
import {setTimeout as sleep} from "node:timers/promises";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import {FeedStream, type Sequenced, StreamMissing} from "../../../nodes/feed/feedStream.ts";
import {NatsAway} from "../../../nodes/feed/natsAway.ts";
import {connectNats, type NatsEvent} from "../../../nodes/feed/natsConnection.ts";
import {Backoff} from "../../../nodes/rpc/backoff.ts";
import type {ImportJob} from "../../messages/importJob.ts";
import type {FeedSource} from "../../messages/importSource.ts";
import {type SourceBlock, SourceError, Stopped} from "../sourceBlock.ts";
import type {OpenedSource, SourceHost} from "../sourceHost.ts";
import {FeedBlocks} from "./feedBlocks.ts";
import {findStart} from "./feedStart.ts";

const NO_BLOCK = -1;
const WAITS = {firstMs: 100, longestMs: 2000};

export function openFeed(source: FeedSource, job: ImportJob, host: SourceHost): OpenedSource {
  const feed = new OpenedFeed(source, job, host);
  return {
    blocks: feed.read(),
    input: {bytesRead: () => feed.bytesRead, bytesTotal: undefined, target: () => feed.target},
  };
}

class OpenedFeed {
  bytesRead = 0;
  target: number | undefined;
  private isCaughtUp = false;
  private readonly backoff = new Backoff(WAITS);

  constructor(
    private readonly source: FeedSource,
    private readonly job: ImportJob,
    private readonly host: SourceHost,
  ) {}

  /** Waits for NATS, for as long as it takes, and until somebody publishes. */
  async *read(): AsyncGenerator<SourceBlock> {
    const {signal} = this.host;
    try {
      for (;;) {
        try {
          yield* this.readConnected();
        } catch (error) {
          if (signal.aborted || !(error instanceof NatsAway || error instanceof StreamMissing)) throw error;
          this.isCaughtUp = false;
          this.host.onEvent({kind: "state", state: "waiting", reason: error.message});
        }
        await sleep(this.backoff.next(), undefined, {signal});
      }
    } catch (error) {
      if (signal.aborted) throw new Stopped();
      throw error instanceof FeedError ? new SourceError(error.message) : error;
    }
  }

  private async *readConnected(): AsyncGenerator<SourceBlock> {
    const {nats, stream, client} = this.source;
    const connection = await connectNats(nats, client, this.host.signal, event => this.noteNats(event));
    try {
      yield* this.readStream(await FeedStream.open(connection, stream, this.describeChain()));
    } finally {
      await connection.close();
    }
  }

  private async *readStream(stream: FeedStream): AsyncGenerator<SourceBlock> {
    const {host} = this;
    host.onEvent({kind: "state", state: "reading"});
    const last = await stream.lastBlock();
    this.target = last?.message.number;
    const start = await findStart(
      stream,
      Math.min(host.writer().finalizedTo, host.writer().latest ?? NO_BLOCK),
    );
    const blocks = new FeedBlocks(host, last, () => this.noteCaughtUp());
    if (last === undefined) this.noteCaughtUp();
    yield* blocks.read(this.count(stream.read(start ?? 1, host.signal)));
  }

  private async *count(messages: AsyncGenerator<Sequenced>): AsyncGenerator<Sequenced> {
    for await (const one of messages) {
      if (one.message.kind === "block") {
        this.bytesRead += one.message.piece.length;
        this.target = one.message.number;
      }
      yield one;
    }
  }

  /** @throws SourceError if nothing names the chain */
  private describeChain(): {readonly suite: string; readonly chainId: bigint} {
    const chainId = this.host.writer().chain?.chainId ?? this.job.chainId;
    if (chainId === undefined)
      throw new SourceError("the feed: --chain-id must name the chain of an empty store");
    return {suite: this.host.reader.suite.name, chainId};
  }

  private noteCaughtUp(): void {
    if (this.isCaughtUp) return;
    this.isCaughtUp = true;
    this.backoff.reset();
    this.host.onEvent({kind: "state", state: "following"});
  }

  private noteNats({isUp, reason}: NatsEvent): void {
    if (!isUp) this.host.onEvent({kind: "state", state: "waiting", reason: `NATS: ${reason}`});
    else if (this.isCaughtUp) this.host.onEvent({kind: "state", state: "following"});
  }
}
