/** Connects to NATS, and connects again for as long as it takes. */
import {setTimeout as sleep} from "node:timers/promises";
import {connect, credsAuthenticator, type NatsConnection} from "@nats-io/transport-node";
import {readWholeFile} from "../../storage/files/regularFile.ts";
import {Backoff} from "../rpc/backoff.ts";
import {FeedError} from "./feedError.ts";

export type {NatsConnection};

export interface NatsSettings {
  /** nats or tls, at least one: some servers of one cluster. */
  readonly urls: readonly string[];
  /** A file with the credentials of a user, as NATS makes them. */
  readonly credsPath: string | undefined;
}

/** NATS is there again, or it is not, for this reason. */
export interface NatsEvent {
  readonly isUp: boolean;
  readonly reason: string;
}

const CONNECT_MS = 3000;
/** A server that leaves two pings without an answer is gone. Without them, a cut cable shows after minutes. */
const PING_MS = 5000;
const WAITS = {firstMs: 250, longestMs: 2000};

/**
 * @returns a connection that finds its way back by itself. The caller closes it
 * @throws the signal's reason; Error for files that cannot be read
 */
export async function connectNats(
  {urls, credsPath}: NatsSettings,
  name: string,
  signal: AbortSignal,
  onEvent: (event: NatsEvent) => void,
): Promise<NatsConnection> {
  const creds = credsPath === undefined ? undefined : readWholeFile(credsPath);
  const isTls = urls.some(url => url.startsWith("tls:"));
  const backoff = new Backoff(WAITS);
  for (;;) {
    signal.throwIfAborted();
    try {
      const connection = await connect({
        servers: [...urls],
        name,
        timeout: CONNECT_MS,
        maxReconnectAttempts: -1,
        pingInterval: PING_MS,
        ...(creds === undefined ? {} : {authenticator: credsAuthenticator(creds)}),
        ...(isTls ? {tls: {}} : {}),
      });
      void watch(connection, onEvent);
      onEvent({isUp: true, reason: ""});
      return connection;
    } catch (error) {
      onEvent({isUp: false, reason: (error as Error).message});
    }
    await sleep(backoff.next(), undefined, {signal});
  }
}

/** Ends with the connection. */
async function watch(connection: NatsConnection, onEvent: (event: NatsEvent) => void): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === "disconnect")
      onEvent({isUp: false, reason: `the connection to ${status.server} was lost`});
    else if (status.type === "reconnect") onEvent({isUp: true, reason: ""});
  }
}

/** NATS, or the part of it that has the stream, does not answer. It is worth another try. */
export class NatsAway extends Error {
  override readonly name = "NatsAway";
}

/** @returns the error itself if it is about what the stream holds */
export function awayOr(error: unknown): Error {
  if (error instanceof FeedError || error instanceof NatsAway) return error;
  const {message, name} = error as Error;
  return new NatsAway(`NATS: ${message || name}`, {cause: error});
}
