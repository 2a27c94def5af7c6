/** A feed as the source of an import: a stream of NATS JetStream, read from where this store stands. */
import {setTimeout as sleep} from "node:timers/promises";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import {FeedStream, StreamMissing} from "../../../nodes/feed/feedStream.ts";
import {
  connectNats,
  NatsAway,
  type NatsConnection,
  type NatsEvent,
} from "../../../nodes/feed/natsConnection.ts";
import {Backoff} from "../../../nodes/rpc/backoff.ts";
import type {ImportJob} from "../../messages/importJob.ts";
import type {FeedSource} from "../../messages/importSource.ts";
import type {SourceHost} from "../sourceHost.ts";
import {SourceError, type SourceStep, Stopped} from "../sourceStep.ts";
import {FeedBlocks} from "./feedBlocks.ts";
import {findStart} from "./feedStart.ts";

const NO_BLOCK = -1;
const WAITS = {firstMs: 100, longestMs: 2000};

/** Waits for NATS, for as long as it takes, and until somebody publishes. */
export async function* readFeed(
  {nats, stream: name, client}: FeedSource,
  job: ImportJob,
  host: SourceHost,
): AsyncGenerator<SourceStep> {
  const {signal, progress} = host;
  const watch = new FeedWatch(host);
  for (;;) {
    let connection: NatsConnection | undefined;
    try {
      connection = await connectNats(nats, client, signal, event => watch.noteNats(event));
      const stream = await FeedStream.open(connection, name, describeChain(job, host));
      host.onEvent({kind: "state", state: "reading"});
      const last = await stream.lastBlock();
      progress.target = last?.message.number;
      const {finalizedTo, latest = NO_BLOCK} = host.writer();
      const start = await findStart(stream, Math.min(finalizedTo, latest));
      const blocks = new FeedBlocks(host);
      if (last === undefined) watch.noteCaughtUp();
      for await (const {sequence, message} of stream.read(start ?? 1, signal)) {
        if (message.kind === "block") {
          progress.bytesRead += message.piece.length;
          progress.target = message.number;
        }
        const step = blocks.take(message);
        if (step !== undefined) yield step;
        if (last === undefined || sequence < last.sequence) continue;
        const ancestor = blocks.findAncestor(last.message.number);
        if (ancestor !== undefined) yield* leaveBranch(ancestor, host);
        watch.noteCaughtUp();
      }
    } catch (error) {
      if (signal.aborted) throw new Stopped();
      if (!(error instanceof NatsAway || error instanceof StreamMissing))
        throw error instanceof FeedError ? new SourceError(error.message) : error;
      watch.noteAway(error.message);
    } finally {
      await connection?.close();
    }
    await sleep(watch.backoff.next(), undefined, {signal}).catch(() => {
      throw new Stopped();
    });
  }
}

/** The next import reads the stream from before the blocks that were removed. */
function* leaveBranch(ancestor: number, {writer}: SourceHost): Generator<SourceStep> {
  const {latest} = writer();
  yield {kind: "rollback", to: ancestor};
  throw new FeedError(
    `blocks ${ancestor + 1} to ${latest} were removed, because the stream follows another branch; it is read again`,
  );
}

/** @throws SourceError if nothing names the chain */
function describeChain(job: ImportJob, {writer, reader}: SourceHost): FeedChain {
  const chainId = writer().chain?.chainId ?? job.chainId;
  if (chainId === undefined)
    throw new SourceError("the feed: --chain-id must name the chain of an empty store");
  return {suite: reader.suite.name, chainId};
}

/** Reports whether the feed is followed or waited for. */
class FeedWatch {
  readonly backoff = new Backoff(WAITS);
  private isCaughtUp = false;

  constructor(private readonly host: SourceHost) {}

  noteCaughtUp(): void {
    if (this.isCaughtUp) return;
    this.isCaughtUp = true;
    this.backoff.reset();
    this.host.onEvent({kind: "state", state: "following"});
  }

  noteAway(reason: string): void {
    this.isCaughtUp = false;
    this.host.onEvent({kind: "state", state: "waiting", reason});
  }

  noteNats({isUp, reason}: NatsEvent): void {
    if (!isUp) this.host.onEvent({kind: "state", state: "waiting", reason: `NATS: ${reason}`});
    else if (this.isCaughtUp) this.host.onEvent({kind: "state", state: "following"});
  }
}
