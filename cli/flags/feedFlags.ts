/** Flags that publish blocks to NATS JetStream, or read them from there. */
import {readFileSync} from "node:fs";
import {type Command, InvalidArgumentError, type OptionValues} from "commander";
import type {FeedOptions} from "../../service/serviceOptions.ts";
import {integerParser, listParser, parseText} from "./flag.ts";
import {beside, idleWhen, refuseFlag, type ValuesOf, value, without} from "./flagTable.ts";

/** A stream with fewer servers holds each message once: a cluster has three. */
const CLUSTER = 3;
const GB = 1e9;
/** Messages of a stream that --publish makes stay for a week. A replica that was away longer needs a snapshot. */
const STREAM_AGE_MS = 7 * 86_400_000;
/** Of a snapshot. Half of a link of 1 Gbit/s is left for blocks. */
const UPLOAD_BYTES_PER_SECOND = 50e6;

export const FEED_FLAGS = {
  publish: value("<url>", listParser(parseNatsUrl)).says(
    "publish blocks to NATS JetStream, for other proofd; nats or tls URLs of servers of one cluster, with commas",
  ),
  ...idleWhen(hasOtherSource, {
    feed: value("<url>", listParser(parseNatsUrl)).says(
      "take blocks from NATS JetStream, where another proofd publishes them; URLs as for --publish",
    ),
  }),
  ...idleWhen(without("publish", "feed"), {
    stream: value("<name>", parseStreamName, "blocks").says("name of the stream"),
    natsCreds: value("<file>", parseText).says("file with the credentials of NATS"),
  }),
  ...idleWhen(without("publish"), {
    streamGb: value("<gb>", integerParser(1, 100_000), 50).says(
      "most bytes of a stream that --publish makes; the oldest messages go first",
    ),
    snapshotEvery: value("<blocks>", integerParser(0, 1_000_000_000), 10_000).says(
      "blocks from one snapshot for new replicas to the next; 0 uploads none",
    ),
  }),
};

function hasOtherSource(values: OptionValues): string | undefined {
  return values.demo === true ? "with --demo" : beside("l2", "diffs")(values);
}

function parseNatsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^(nats|tls):$/.test(url.protocol) && url.hostname !== "") return text;
  throw new InvalidArgumentError("Expected nats or tls URLs, such as nats://n1:4222.");
}

/** NATS allows more, but not in every file system. */
function parseStreamName(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected 1 to 64 letters, digits, _ or -.");
}

/** @param command - ends the program with a usage error for a file that cannot be read */
export function readFeed(values: ValuesOf<typeof FEED_FLAGS>, command: Command): FeedOptions {
  const {publish, feed, stream, natsCreds: credsPath, streamGb, snapshotEvery} = values;
  requireReadable("natsCreds", credsPath, command);
  return {
    publish:
      publish === undefined
        ? undefined
        : {
            nats: {urls: publish, credsPath},
            stream,
            rules: {
              replicas: publish.length >= CLUSTER ? CLUSTER : 1,
              maxAgeMs: STREAM_AGE_MS,
              maxBytes: streamGb * GB,
            },
            snapshots: {every: snapshotEvery, bytesPerSecond: UPLOAD_BYTES_PER_SECOND},
          },
    feed:
      feed === undefined
        ? undefined
        : {kind: "feed", nats: {urls: feed, credsPath}, stream, client: "proofd replica"},
  };
}

function requireReadable(key: string, path: string | undefined, command: Command): void {
  if (path === undefined) return;
  try {
    readFileSync(path);
  } catch (error) {
    refuseFlag(command, key, `: cannot read ${path}: ${(error as Error).message}`);
  }
}
