/**
 * One chain's part of a JetStream stream. Every message is of one of two subjects, so that the last one of each is
 * found at once:
 *
 *   STREAM.CHAINID.blocks       parts of blocks
 *   STREAM.CHAINID.finality     what is finalized
 *
 * Sequence numbers are the stream's. A message names the last one that its publisher has seen, and the stream refuses
 * it if there is a later one by then, of any subject: so publishers have one order. (The same of one subject alone is
 * not atomic before NATS 2.10.)
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
import {
  type BlockHead,
  bodyBytes,
  decodeHead,
  encodeHead,
  type FeedChain,
  type FeedHead,
  type FinalityHead,
} from "./feedMessage.ts";
import {hearMessages} from "./heardMessages.ts";
import {awayOr, maxPayload, NatsAway} from "./natsConnection.ts";

/** How long a message stays, and how many servers have it. */
export interface StreamRules {
  readonly replicas: number;
  readonly maxAgeMs: number;
  /** undefined: the first of FITTING_BYTES that the servers have room for. */
  readonly maxBytes: number | undefined;
}

/** A message's head and its number in the stream. */
export interface Sequenced<Head = FeedHead> {
  readonly sequence: number;
  readonly head: Head;
}

export interface FeedMessage extends Sequenced {
  readonly body: Buffer;
}

/** What a reader needs of the messages that were in the stream already. */
interface MessageFilter {
  /** The last one that was there. */
  readonly until: number;
  passes(sequence: number, isBlock: boolean): boolean;
}

/** What a stream has. */
export interface StreamTip {
  /** Of the first message that was there, of whatever subject. */
  readonly firstSequence: number;
  /** Of the last message, of whatever subject; 0: there never was one. */
  readonly lastSequence: number;
  readonly block: Sequenced<BlockHead> | undefined;
  readonly finality: Sequenced<FinalityHead> | undefined;
}

/** Nobody has published to the stream yet. */
export class StreamMissing extends FeedError {}

/** Another publisher has written meanwhile. */
export class StreamMoved extends Error {
  override readonly name = "StreamMoved";
}

/** An answer of a server that takes longer is a failure: the call is made again. */
const ANSWER_MS = 2000;
/** Of the halvings that find the free room: to 1 % of what is wanted. */
const ROOM_TRIES = 7;
const NANOSECONDS = 1_000_000;
const GB = 1e9;
/** What a stream sets aside, if nobody says: half of it is left where there is less room than for the first. */
const FITTING_BYTES = [50, 25, 12, 6, 3, 1.5, 0.75, 0.3, 0.1].map(gb => gb * GB);
/**
 * The error codes of "insufficient storage resources", "no suitable peers for placement", "resource limits exceeded for
 * account".
 */
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

  /**
   * @param rules - the stream is made with these if there is none; undefined: it must be there
   * @throws StreamMissing; FeedError for a stream or a server that cannot be used; NatsAway
   */
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

  /** @throws FeedError if there is no room for it; NatsAway if the servers for it are not there */
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
    // NATS tells its own free bytes to nobody but an operator of the whole system, so what fits is found by trying.
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
    // A cluster answers the same while it begins, or lacks a server.
    if (free === 0 && rules.replicas > 1)
      throw new NatsAway(
        `NATS: there are no ${rules.replicas} servers with room for the stream ${stream}, of ${wanted} bytes`,
      );
    throw new FeedError(
      `--stream-gb: NATS has no room for the stream ${stream}: ${wanted} bytes are wanted, ${free} are free${rules.replicas > 1 ? ` on each of ${rules.replicas} servers` : ""}`,
    );
  }

  /** What a message's body may have. @throws FeedError if that is too little; NatsAway */
  get bodyBytes(): number {
    return bodyBytes(maxPayload(this.connection));
  }

  /** @throws FeedError for a last message of another chain, suite or version; StreamMissing; NatsAway */
  async readTip(): Promise<StreamTip> {
    try {
      // First: what comes later is refused then, and never overlooked.
      const {state} = await this.manager.streams.info(this.stream);
      const [block, finality] = [await this.last("blocks"), await this.last("finality")];
      return {
        firstSequence: state.first_seq,
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

  /**
   * The heads of the chain's messages from `from` to `to`, in their order. Messages that are none of the chain's feed
   * are left out.
   */
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
   * @param after - the number of the stream's last message. Another last one refuses the message
   * @returns the message's number
   * @throws StreamMoved; NatsAway, and then the message may have been stored
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
   * The messages of the chain from `from` on, in their order, and those that come later. Ends when nothing is heard of
   * the server any more.
   *
   * @throws FeedError for a message that is none, unless it was there when the filter was made; NatsAway
   */
  async *read(from: number, filter: MessageFilter, signal: AbortSignal): AsyncGenerator<FeedMessage> {
    const place = {stream: this.stream, subjects: `${this.prefix}.>`, from, headersOnly: false};
    for await (const {seq, headers: given, data, subject} of hearMessages(this.jetstream, place, signal)) {
      if (filter.passes(seq, subject === `${this.prefix}.blocks`)) continue;
      try {
        const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
        yield {sequence: seq, head: this.decode(given), body};
      } catch (error) {
        if (!(error instanceof FeedError) || seq > filter.until) throw error;
      }
    }
  }

  private async last(subject: string): Promise<Sequenced | undefined> {
    try {
      // Not a direct read, which any server of the stream may answer, also one that is behind.
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
