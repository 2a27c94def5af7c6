/** A feed as the source of an import: a stream of NATS JetStream, read on from the newest stored block. */
import {setTimeout as sleep} from "node:timers/promises";
import {SnapshotNeeded, SourceError, type SourceStep, Stopped} from "../../../nodes/blocks/sourceStep.ts";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import {findPath, skipsOf} from "../../../nodes/feed/feedPath.ts";
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
import {Detached, FeedBlocks, readStored} from "./feedBlocks.ts";

const WAITS = {firstMs: 100, longestMs: 2000};

/** Waits for NATS, and for a publisher, for as long as it takes. */
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
      const path = await findPath(stream, await stream.readTip(), readStored(host), signal);
      if (path.lack !== undefined) throw new SnapshotNeeded(path.lack);
      progress.target = path.newest?.number;
      const last = path.blocks.at(-1)?.last ?? 0;
      if (last === 0) watch.noteCaughtUp();
      const blocks = new FeedBlocks(host);
      for await (const message of stream.read(path, skipsOf(path), signal)) {
        const {sequence, head, body} = message;
        progress.bytesRead += body.length;
        if (head.kind === "block" && sequence > path.until) progress.target = head.number;
        yield* blocks.take(message, sequence <= path.until);
        if (sequence >= last) watch.noteCaughtUp();
      }
      if (!signal.aborted) watch.noteAway("NATS: the server fell silent");
    } catch (error) {
      if (signal.aborted) throw new Stopped();
      if (error instanceof NatsAway || error instanceof StreamMissing) watch.noteAway(error.message);
      else if (!(error instanceof Detached)) throw error;
    } finally {
      await connection?.close();
    }
    await sleep(watch.backoff.next(), undefined, {signal}).catch(() => {
      throw new Stopped();
    });
  }
}

/** @throws SourceError if nothing names the chain */
function describeChain(job: ImportJob, {writer, reader}: SourceHost): FeedChain {
  const chainId = writer.chain?.chainId ?? job.chainId;
  if (chainId === undefined)
    throw new SourceError("the feed: --chain-id must name the chain of an empty store");
  return {suite: reader.suiteName, chainId};
}

/** Reports whether the feed is followed or awaited. */
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
