/** Connects to NATS, and reconnects for as long as it takes. */
import {setTimeout as sleep} from "node:timers/promises";
import {connect, credsAuthenticator, type NatsConnection} from "@nats-io/transport-node";
import {orAborted} from "../../client/rpc/abortable.ts";
import {readWholeFile} from "../../storage/regularFile.ts";
import {Backoff} from "../rpc/backoff.ts";
import {FeedError} from "./feedError.ts";

export type {NatsConnection};

export interface NatsSettings {
  /** Some servers of one cluster, at least one: nats or tls. */
  readonly urls: readonly string[];
  readonly credsPath: string | undefined;
}

/** NATS can be reached again, or why not. */
export interface NatsEvent {
  readonly isUp: boolean;
  readonly reason: string;
}

const CONNECT_MS = 3000;
/** A server that leaves two pings unanswered is gone. Otherwise a cut cable shows after minutes. */
const PING_MS = 5000;
const WAITS = {firstMs: 250, longestMs: 2000};
/** Earlier clusters may miscount refused messages, and then leave later ones unanswered (nats-server#5179). */
const OLDEST_GOOD = [2, 10, 12] as const;

/** @returns a connection that reconnects by itself. @throws the signal's reason; Error for an unreadable file */
export async function connectNats(
  {urls, credsPath}: NatsSettings,
  name: string,
  signal: AbortSignal,
  onEvent: (event: NatsEvent) => void,
): Promise<NatsConnection> {
  const authenticator =
    credsPath === undefined ? {} : {authenticator: credsAuthenticator(readWholeFile(credsPath))};
  const isTls = urls.some(url => url.startsWith("tls:"));
  const backoff = new Backoff(WAITS);
  for (;;) {
    signal.throwIfAborted();
    const connecting = connect({
      servers: [...urls],
      name,
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      pingInterval: PING_MS,
      ...authenticator,
      ...(isTls ? {tls: {}} : {}),
    });
    try {
      // Looking up the names of servers that are gone can take longer than a stop may.
      const connection = await orAborted(connecting, signal);
      void watch(connection, onEvent);
      onEvent({isUp: true, reason: ""});
      return connection;
    } catch (error) {
      if (signal.aborted) connecting.then(late => late.close()).catch(() => {}); // nobody needs it any more
      signal.throwIfAborted();
      onEvent({isUp: false, reason: (error as Error).message});
    }
    await sleep(backoff.next(), undefined, {signal});
  }
}

/** The largest message that the server takes, in bytes. @throws NatsAway while it reconnects: it is unknown then */
export function maxPayload({info}: NatsConnection): number {
  if (info === undefined) throw new NatsAway("NATS: the connection is being made again");
  return info.max_payload;
}

/** @returns a warning about a server that is too old for a feed */
export function describeOldServer({info}: {readonly info?: {readonly version: string}}): string | undefined {
  if (info === undefined) return undefined;
  const version = info.version.split(".").map(part => Number.parseInt(part, 10));
  const at = OLDEST_GOOD.findIndex((number, place) => version[place] !== number);
  if (at === -1 || !((version[at] as number) < (OLDEST_GOOD[at] as number))) return undefined;
  return `NATS ${info.version} may leave messages of a replicated stream unanswered for minutes after a new leader was chosen: use ${OLDEST_GOOD.join(".")} or later`;
}

async function watch(connection: NatsConnection, onEvent: (event: NatsEvent) => void): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === "disconnect")
      onEvent({isUp: false, reason: `the connection to ${status.server} was lost`});
    else if (status.type === "reconnect") onEvent({isUp: true, reason: ""});
  }
}

/** NATS, or the part of it that has the stream, does not respond. A retry may help. */
export class NatsAway extends Error {
  override readonly name = "NatsAway";
}

/** @returns the error itself if it is about the stream's content */
export function awayOr(error: unknown): Error {
  if (error instanceof FeedError || error instanceof NatsAway) return error;
  const {message, name} = error as Error;
  return new NatsAway(`NATS: ${message || name}`, {cause: error});
}
