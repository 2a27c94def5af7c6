/**
 * Reads a stream's messages for as long as its server sends heartbeats. A consumer exists on one server, and disappears
 * with it or with its stream. The library does not notice: it keeps polling the lost consumer, or none after a
 * reconnection.
 */
import {
  type Consumer,
  type ConsumerMessages,
  DeliverPolicy,
  type JetStreamClient,
  type JsMsg,
} from "@nats-io/jetstream";
import {awayOr} from "./natsConnection.ts";

interface HeardPlace {
  readonly stream: string;
  readonly subjects: string;
  /** The first message's number in the stream. */
  readonly from: number;
  /** Only headers, up to the message that is the last now. */
  readonly headersOnly: boolean;
}

/** Buffer for messages that arrive faster than they are consumed. */
const AHEAD_BYTES = 16 * 1024 * 1024;
/** Between heartbeats of an idle consumer. */
const HEARTBEAT_MS = 1000;
const SILENCE_MS = 3 * HEARTBEAT_MS;
const PULL_MS = 10_000;
/** The consumer is gone. The library would wait for the same sequence number in a new stream, which may never come. */
const GONE: ReadonlySet<string> = new Set([
  "consumer_deleted",
  "consumer_not_found",
  "stream_not_found",
  "ordered_consumer_recreated",
]);

/** Ends when heartbeats stop, or with the signal. @throws NatsAway */
export async function* hearMessages(
  jetstream: JetStreamClient,
  {stream, subjects, from, headersOnly}: HeardPlace,
  signal: AbortSignal,
): AsyncGenerator<JsMsg> {
  let consumer: Consumer | undefined;
  try {
    consumer = await jetstream.consumers.get(stream, {
      filter_subjects: subjects,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      headers_only: headersOnly,
    });
    let left = headersOnly ? (await consumer.info()).num_pending : Number.POSITIVE_INFINITY;
    if (left === 0) return;
    const messages = await consumer.consume({
      max_bytes: AHEAD_BYTES,
      expires: PULL_MS,
      idle_heartbeat: HEARTBEAT_MS,
    });
    for await (const message of listen(messages, signal)) {
      if (signal.aborted) return;
      yield message;
      if (--left === 0) return;
    }
  } catch (error) {
    throw awayOr(error);
  } finally {
    // Not awaited: without a response, the server removes the consumer some minutes after the last pull.
    consumer?.delete().catch(() => {});
  }
}

async function* listen(messages: ConsumerMessages, signal: AbortSignal): AsyncGenerator<JsMsg> {
  const stop = (): void => messages.stop();
  let heardMs = performance.now();
  // While a message is being processed, nothing is requested, so nothing arrives.
  let isWaiting = true;
  const timer = setInterval(() => {
    if (isWaiting && performance.now() - heardMs > SILENCE_MS) stop();
  }, HEARTBEAT_MS);
  signal.addEventListener("abort", stop);
  // It may have come while the consumer was created.
  if (signal.aborted) stop();
  const beats = (async () => {
    for await (const {type} of messages.status()) {
      if (type === "heartbeat") heardMs = performance.now();
      else if (GONE.has(type)) stop();
    }
  })();
  try {
    for await (const message of messages) {
      isWaiting = false;
      yield message;
      isWaiting = true;
      heardMs = performance.now();
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", stop);
    await messages.close();
    await beats;
  }
}
