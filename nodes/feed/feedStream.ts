/**
 * One chain's part of a JetStream stream. Every message is of one of two subjects, so that the last one of each is found at once:
 *
 *   STREAM.CHAINID.blocks       parts of blocks, and rollbacks
 *   STREAM.CHAINID.finality     what is finalized
 *
 * Sequence numbers are the stream's, so a message of one subject is before or after one of the other.
 */
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from "@nats-io/jetstream";
import type {NatsConnection} from "@nats-io/transport-node";
import {FeedError} from "./feedError.ts";
import {decodeMessage, type FeedChain, type FeedMessage} from "./feedMessage.ts";
import {hearMessages} from "./heardMessages.ts";
import {awayOr} from "./natsConnection.ts";

/** How long a message stays, and how many servers have it. */
export interface StreamRules {
  readonly replicas: number;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/** A message and its number in the stream. */
export interface Sequenced<Message = FeedMessage> {
  readonly sequence: number;
  readonly message: Message;
}

/** Nobody has published to the stream yet. */
export class StreamMissing extends FeedError {}

/** Another publisher has written meanwhile. */
export class StreamMoved extends Error {
  override readonly name = "StreamMoved";
}

/** An answer of a server that takes longer is a failure: the call is made again. */
const ANSWER_MS = 5000;
const NANOSECONDS = 1_000_000;
/** A message whose acknowledgement was lost and which is sent again in this time is stored once. */
const DUPLICATES_MS = 120_000;

export class FeedStream {
  private readonly jetstream: JetStreamClient;
  private readonly prefix: string;

  private constructor(
    connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly stream: string,
    private readonly chain: FeedChain,
  ) {
    this.jetstream = jetstream(connection, {timeout: ANSWER_MS});
    this.prefix = `${stream}.${chain.chainId}`;
  }

  /**
   * @param rules - the stream is made with these if there is none; undefined: it must be there
   * @throws StreamMissing; FeedError for a stream that cannot be used; NatsAway
   */
  static async open(
    connection: NatsConnection,
    stream: string,
    chain: FeedChain,
    rules?: StreamRules,
  ): Promise<FeedStream> {
    try {
      const manager = await jetstreamManager(connection, {timeout: ANSWER_MS, checkAPI: false});
      await FeedStream.find(manager, stream, rules);
      return new FeedStream(connection, manager, stream, chain);
    } catch (error) {
      throw awayOr(error);
    }
  }

  private static async find(
    manager: JetStreamManager,
    stream: string,
    rules: StreamRules | undefined,
  ): Promise<void> {
    try {
      const {config} = await manager.streams.info(stream);
      if (config.allow_direct !== true)
        throw new FeedError(
          `the stream ${stream}: expected allow_direct, as proofd makes it; got a stream without`,
        );
    } catch (error) {
      if (!isCode(error, JetStreamApiCodes.StreamNotFound)) throw error;
      if (rules === undefined)
        throw new StreamMissing(`the stream ${stream}: there is none: no proofd has published to it`);
      await manager.streams.add({
        name: stream,
        subjects: [`${stream}.>`],
        num_replicas: rules.replicas,
        max_age: rules.maxAgeMs * NANOSECONDS,
        max_bytes: rules.maxBytes,
        duplicate_window: DUPLICATES_MS * NANOSECONDS,
        allow_direct: true,
      });
    }
  }

  /** The last part of a block, or rollback. @throws FeedError; NatsAway */
  lastBlock(): Promise<Sequenced | undefined> {
    return this.last("blocks");
  }

  lastFinality(): Promise<Sequenced | undefined> {
    return this.last("finality");
  }

  /** The first part of a block, or rollback, at this place of the stream or after it. */
  async nextBlock(sequence: number): Promise<Sequenced | undefined> {
    const query = {seq: sequence, next_by_subj: `${this.prefix}.blocks`};
    const found = await orNone(this.manager.direct.getMessage(this.stream, query));
    return found && {sequence: found.seq, message: decodeMessage(this.chain, found.data)};
  }

  /** @returns the part of a block, or rollback, with exactly this number; undefined for another chain's message, finality, or none */
  async blockAt(sequence: number): Promise<Sequenced | undefined> {
    const found = await orNone(this.manager.direct.getMessage(this.stream, {seq: sequence}));
    if (found?.subject !== `${this.prefix}.blocks`) return undefined;
    return {sequence: found.seq, message: decodeMessage(this.chain, found.data)};
  }

  /** Where the stream begins and ends: sequence numbers of messages of all chains. */
  async readRange(): Promise<{readonly first: number; readonly last: number}> {
    try {
      const {state} = await this.manager.streams.info(this.stream);
      return {first: state.first_seq, last: state.last_seq};
    } catch (error) {
      throw awayOr(error);
    }
  }

  /**
   * @param after - the number of the last message of this subject, 0 for none. Another last one refuses the message
   * @returns the message's number
   * @throws StreamMoved; NatsAway, and then the message may have been stored
   */
  async publish(
    subject: "blocks" | "finality",
    body: Uint8Array,
    name: string,
    after: number,
  ): Promise<number> {
    try {
      const {seq} = await this.jetstream.publish(`${this.prefix}.${subject}`, body, {
        msgID: `${after}.${name}`,
        timeout: ANSWER_MS,
        expect: {lastSubjectSequence: after},
      });
      return seq;
    } catch (error) {
      if (isCode(error, JetStreamApiCodes.StreamWrongLastSequence)) throw new StreamMoved();
      throw awayOr(error);
    }
  }

  /**
   * All messages of the chain from `sequence` on, in their order, and those that come later. If the server with the consumer dies, another
   * consumer goes on with the next message.
   *
   * @throws FeedError for a message that is none; NatsAway
   */
  async *read(sequence: number, signal: AbortSignal): AsyncGenerator<Sequenced> {
    const place = {stream: this.stream, subjects: `${this.prefix}.>`, from: Math.max(1, sequence)};
    for await (const {seq, data} of hearMessages(this.jetstream, place, signal))
      yield {sequence: seq, message: decodeMessage(this.chain, data)};
  }

  private async last(subject: string): Promise<Sequenced | undefined> {
    const query = {last_by_subj: `${this.prefix}.${subject}`};
    // Not a direct read, which any server of the stream may answer, also one that is behind.
    const found = await orNone(this.manager.streams.getMessage(this.stream, query));
    return found && {sequence: found.seq, message: decodeMessage(this.chain, found.data)};
  }
}

async function orNone<Found>(answer: Promise<Found | null>): Promise<Found | undefined> {
  try {
    return (await answer) ?? undefined;
  } catch (error) {
    if (isCode(error, JetStreamApiCodes.NoMessageFound)) return undefined;
    throw awayOr(error);
  }
}

function isCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
