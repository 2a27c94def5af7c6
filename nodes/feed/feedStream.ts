/**
 * One chain's part of a JetStream stream. Messages have one of two subjects, so that the last one of each is found
 * immediately:
 *
 *   STREAM.CHAINID.blocks       parts of blocks
 *   STREAM.CHAINID.finality     what is finalized
 *
 * Sequence numbers are the stream's. A message contains the last one that its publisher has seen, and the stream
 * refuses it if there is a later one, of any subject: so publishers have one order. (The same check per subject is not
 * atomic before NATS 2.10.)
 */
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from "@nats-io/jetstream";
import {headers, type MsgHdrs, type NatsConnection} from "@nats-io/transport-node";
import {FeedError, NoMessage} from "./feedError.ts";
import {bodyBytes, decodeHead, encodeHead, type FeedChain, type FeedHead} from "./feedMessage.ts";
import {hearMessages} from "./heardMessages.ts";
import {awayOr, maxPayload, NatsAway} from "./natsConnection.ts";

/** Limits of a stream that is created. */
export interface StreamRules {
  readonly replicas: number;
  readonly maxAgeMs: number;
  /** undefined: the first of FITTING_BYTES for which there is room. */
  readonly maxBytes: number | undefined;
}

/** With its number in the stream. */
export interface Sequenced<Head = FeedHead> {
  readonly sequence: number;
  readonly head: Head;
}

export interface FeedMessage extends Sequenced {
  readonly body: Buffer;
}

export type StreamTip = Awaited<ReturnType<FeedStream["readTip"]>>;

/** Nobody has published to the stream yet. */
export class StreamMissing extends FeedError {}

/** Another publisher has written. */
export class StreamMoved extends Error {
  override readonly name = "StreamMoved";
}

/** The call is repeated after this time. */
const ANSWER_MS = 2000;
/** Bisections of the free room: to 1 % of what is wanted. */
const ROOM_TRIES = 7;
const NANOSECONDS = 1_000_000;
const GB = 1e9;
/** What a stream reserves by default: the first size, or half as much while there is less room. */
const FITTING_BYTES = [50, 25, 12, 6, 3, 1.5, 0.75, 0.3, 0.1].map(gb => gb * GB);
/** "Insufficient storage resources", "no suitable peers for placement", "resource limits exceeded for account". */
const NO_ROOM: readonly number[] = [10047, 10005, 10002];
const HEAD = "Proofd";

export class FeedStream {
  private readonly jetstream: JetStreamClient;
  private readonly prefix: string;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly stream: string,
    private readonly chain: FeedChain,
  ) {
    this.jetstream = jetstream(connection, {timeout: ANSWER_MS});
    this.prefix = `${stream}.${chain.chainId}`;
  }

  /** @param rules - to create a missing stream with. @throws StreamMissing; FeedError if it is unusable; NatsAway */
  static async open(
    connection: NatsConnection,
    stream: string,
    chain: FeedChain,
    rules?: StreamRules,
  ): Promise<FeedStream> {
    try {
      const manager = await jetstreamManager(connection, {timeout: ANSWER_MS, checkAPI: false});
      if (rules !== undefined) bodyBytes(maxPayload(connection));
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
        throw new StreamMissing(`there is no stream ${stream}: no proofd has published to it`);
      await FeedStream.make(manager, stream, rules);
    }
  }

  /** @throws FeedError if there is no room for it; NatsAway if servers for it are down */
  private static async make(manager: JetStreamManager, stream: string, rules: StreamRules): Promise<void> {
    const add = async (name: string, maxBytes: number): Promise<boolean> => {
      try {
        await manager.streams.add({
          name,
          subjects: [`${name}.>`],
          num_replicas: rules.replicas,
          max_age: rules.maxAgeMs * NANOSECONDS,
          max_bytes: maxBytes,
          allow_direct: true,
        });
        return true;
      } catch (error) {
        if (error instanceof JetStreamApiError && NO_ROOM.includes(error.code)) return false;
        throw error;
      }
    };
    const {maxBytes} = rules;
    for (const bytes of maxBytes === undefined ? FITTING_BYTES : [maxBytes])
      if (await add(stream, bytes)) return;
    // NATS reports its free bytes only to operators of the whole system, so what fits is found by trying.
    const wanted = maxBytes ?? (FITTING_BYTES.at(-1) as number);
    const probe = `${stream}-room`;
    let [free, tooMany] = [0, wanted];
    for (let tries = 0; tries < ROOM_TRIES; tries++) {
      const bytes = Math.floor((free + tooMany) / 2);
      if (await add(probe, bytes)) {
        await manager.streams.delete(probe);
        free = bytes;
      } else tooMany = bytes;
    }
    // A cluster answers the same while it starts, or lacks a server.
    if (free === 0 && rules.replicas > 1)
      throw new NatsAway(
        `NATS: there are no ${rules.replicas} servers with room for the stream ${stream}, of ${wanted} bytes`,
      );
    throw new FeedError(
      `--stream-gb: NATS has no room for the stream ${stream}: ${wanted} bytes are wanted, ${free} are free${rules.replicas > 1 ? ` on each of ${rules.replicas} servers` : ""}`,
    );
  }

  /** Limit of a message's body. @throws FeedError if it is too small; NatsAway */
  get bodyBytes(): number {
    return bodyBytes(maxPayload(this.connection));
  }

  /** @throws FeedError for a last message of another chain, suite or version; StreamMissing; NatsAway */
  async readTip() {
    try {
      // First: a later message makes the next `publish` fail.
      const {state} = await this.manager.streams.info(this.stream);
      const [block, finality] = [await this.last("blocks"), await this.last("finality")];
      return {
        /** Of any subject, as the last one. */
        firstSequence: state.first_seq,
        /** 0: there never was one. */
        lastSequence: state.last_seq,
        block: block?.head.kind === "block" ? {...block, head: block.head} : undefined,
        finality: finality?.head.kind === "finality" ? {...finality, head: finality.head} : undefined,
      };
    } catch (error) {
      if (isCode(error, JetStreamApiCodes.StreamNotFound))
        throw new StreamMissing(`the stream ${this.stream} is gone`);
      throw awayOr(error);
    }
  }

  /** Heads of the chain's messages `from` to `to`, in order. Invalid messages are left out. */
  async readHeads(from: number, to: number, signal: AbortSignal): Promise<Sequenced[]> {
    const heads: Sequenced[] = [];
    const place = {stream: this.stream, subjects: `${this.prefix}.>`, from, headersOnly: true};
    for await (const {seq, headers: given} of hearMessages(this.jetstream, place, signal)) {
      if (seq > to) break;
      try {
        heads.push({sequence: seq, head: this.decode(given)});
      } catch (error) {
        if (!(error instanceof FeedError)) throw error;
      }
    }
    signal.throwIfAborted();
    return heads;
  }

  /**
   * @param after - the number of the stream's last message. The stream refuses the message if another one is the last
   * @returns the message's number. @throws StreamMoved; NatsAway, and then the message may have been stored
   */
  async publish(head: FeedHead, body: Uint8Array, after: number): Promise<number> {
    const subject = `${this.prefix}.${head.kind === "block" ? "blocks" : "finality"}`;
    const given = headers();
    given.set(HEAD, encodeHead(this.chain, head));
    try {
      const options = {headers: given, timeout: ANSWER_MS, expect: {lastSequence: after}};
      return (await this.jetstream.publish(subject, body, options)).seq;
    } catch (error) {
      if (isCode(error, JetStreamApiCodes.StreamWrongLastSequence)) throw new StreamMoved();
      throw awayOr(error);
    }
  }

  /**
   * The messages from `from` on, also later ones. Ends when the server falls silent.
   * @param until - the last message scanned (feedPath.ts). @throws FeedError after it, NatsAway
   */
  async *read(
    {from, until}: {readonly from: number; readonly until: number},
    skips: (sequence: number, isBlock: boolean) => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<FeedMessage> {
    const place = {stream: this.stream, subjects: `${this.prefix}.>`, from, headersOnly: false};
    for await (const {seq, headers: given, data, subject} of hearMessages(this.jetstream, place, signal)) {
      if (skips(seq, subject === `${this.prefix}.blocks`)) continue;
      try {
        const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
        yield {sequence: seq, head: this.decode(given), body};
      } catch (error) {
        if (!(error instanceof FeedError) || seq > until) throw error;
      }
    }
  }

  private async last(subject: string): Promise<Sequenced | undefined> {
    try {
      // Not a direct read, which a server that lags may answer.
      const found = await this.manager.streams.getMessage(this.stream, {
        last_by_subj: `${this.prefix}.${subject}`,
      });
      return found === null ? undefined : {sequence: found.seq, head: this.decode(found.header)};
    } catch (error) {
      if (isCode(error, JetStreamApiCodes.NoMessageFound) || error instanceof NoMessage) return undefined;
      throw error;
    }
  }

  private decode(given: MsgHdrs | undefined): FeedHead {
    return decodeHead(this.chain, given?.get(HEAD));
  }
}

function isCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
