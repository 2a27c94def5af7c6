/**
 * The messages of a stream from a place on, through the death of any server. A consumer lives on one server, and dies with it. Nobody else
 * knows that, and the library asks the dead one again and again, or nobody after a reconnection. So here a consumer that is not heard for a
 * while is left for a new one.
 */
import {type ConsumerMessages, DeliverPolicy, type JetStreamClient} from "@nats-io/jetstream";
import {awayOr} from "./natsConnection.ts";

interface HeardMessage {
  readonly seq: number;
  readonly data: Uint8Array;
}

/** What a reader holds of messages that come faster than they are taken. */
const AHEAD_BYTES = 16 * 1024 * 1024;
/** From one sign of life of an idle consumer to the next. */
const HEARTBEAT_MS = 1000;
const SILENCE_MS = 3 * HEARTBEAT_MS;
const PULL_MS = 10_000;

/** @param from - the first message's number in the stream. @throws NatsAway */
export async function* hearMessages(
  jetstream: JetStreamClient,
  {stream, subjects, from}: {readonly stream: string; readonly subjects: string; readonly from: number},
  signal: AbortSignal,
): AsyncGenerator<HeardMessage> {
  let next = from;
  while (!signal.aborted)
    try {
      const consumer = await jetstream.consumers.get(stream, {
        filter_subjects: subjects,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: next,
      });
      const messages = await consumer.consume({
        max_bytes: AHEAD_BYTES,
        expires: PULL_MS,
        idle_heartbeat: HEARTBEAT_MS,
      });
      for await (const message of listen(messages, signal)) {
        if (signal.aborted) return;
        yield message;
        next = message.seq + 1;
      }
    } catch (error) {
      throw awayOr(error);
    }
}

/** Ends when nothing was heard for a while. */
async function* listen(messages: ConsumerMessages, signal: AbortSignal): AsyncGenerator<HeardMessage> {
  const stop = (): void => messages.stop();
  let heardMs = performance.now();
  // While a message is being taken, nothing is asked for, so nothing comes.
  let isWaiting = true;
  const timer = setInterval(() => {
    if (isWaiting && performance.now() - heardMs > SILENCE_MS) stop();
  }, HEARTBEAT_MS);
  signal.addEventListener("abort", stop);
  const beats = (async () => {
    for await (const {type} of messages.status()) if (type === "heartbeat") heardMs = performance.now();
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
