/** Connects to NATS, and connects again for as long as it takes. */
import {setTimeout as sleep} from "node:timers/promises";
import {checkServerIdentity, type DetailedPeerCertificate} from "node:tls";
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type TlsOptions,
} from "@nats-io/transport-node";
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
  const authenticator = readAuthenticator(credsPath);
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
        ...authenticator,
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

/**
 * @param url - of one server, over TLS
 * @returns when the first certificate of its chain ends, in ms since 1970
 * @throws Error if it does not answer, or shows none that is trusted now
 */
export async function readCertificateEnd(url: string, credsPath: string | undefined): Promise<number> {
  let endMs = Number.POSITIVE_INFINITY;
  // The library hands this on to Node, which calls it with the chain.
  const tls = {
    checkServerIdentity(host: string, certificate: DetailedPeerCertificate): Error | undefined {
      for (let one = certificate; ; one = one.issuerCertificate) {
        endMs = Math.min(endMs, Date.parse(one.valid_to));
        if (one.issuerCertificate === undefined || one.issuerCertificate === one) break;
      }
      return checkServerIdentity(host, certificate);
    },
  } as TlsOptions;
  const options = {servers: [url], timeout: CONNECT_MS, reconnect: false, tls};
  try {
    await (await connect({...options, ...readAuthenticator(credsPath)})).close();
  } catch (error) {
    if (endMs === Number.POSITIVE_INFINITY) throw error; // else it was shown before
  }
  return endMs;
}

function readAuthenticator(credsPath: string | undefined): {readonly authenticator?: Authenticator} {
  return credsPath === undefined ? {} : {authenticator: credsAuthenticator(readWholeFile(credsPath))};
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
