/**
 * One WebSocket on which a node announces new blocks:
 *
 *   open --> {"id":1,"method":"eth_subscribe","params":["newHeads"]}
 *        <-- {"id":1,"result":<name of the subscription>}
 *        <-- {"method":"eth_subscription", ...}                          for each new block
 *        --> {"id":2,"method":"eth_chainId"}           after a silence, to detect a dead connection
 *
 * Notifications are not parsed. They only mean that the node may have a new block.
 */
import type {Socket} from "node:net";
import {buildConnector, Client, type MessageEvent, WebSocket} from "undici";
import {orAborted} from "../../client/rpc/abortable.ts";
import {createRedaction, encodeAuthorization} from "../../client/rpc/secrets.ts";
import {encodeCall, NodeFailure} from "./node.ts";
import {toNodeError} from "./nodeError.ts";
import {parseAnswer} from "./response.ts";

interface HeadSubscriptionSettings {
  /** ws or wss. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** For connecting and subscribing together, and for the response to a ping. */
  readonly timeoutMs: number;
  /** After this time without a message, a ping is sent: eth_chainId. */
  readonly silenceMs: number;
}

interface HeadHooks {
  onSubscribed(): void;
  onHead(): void;
}

/** A notification has one header, which is far shorter. */
const MAX_MESSAGE_BYTES = 2 ** 20;
const SUBSCRIBE_ID = 1;
const SUBSCRIBE = JSON.stringify(encodeCall({method: "eth_subscribe", params: ["newHeads"]}, SUBSCRIBE_ID));
const PING = JSON.stringify(encodeCall({method: "eth_chainId", params: []}, SUBSCRIBE_ID + 1));

/** Calls `onHead` for each new block until the connection ends. @throws NodeFailure then; the signal's reason */
export async function followHeads(
  settings: HeadSubscriptionSettings,
  hooks: HeadHooks,
  signal: AbortSignal,
): Promise<never> {
  const {url, timeoutMs} = settings;
  const connect = buildConnector({timeout: timeoutMs});
  let opened: Socket | undefined;
  const client = new Client(`${url.protocol === "wss:" ? "https" : "http"}://${url.host}`, {
    connect: (options, callback) =>
      connect(options, (...result) => {
        opened = result[1] ?? undefined;
        callback(...result);
      }),
    webSocket: {maxPayloadSize: MAX_MESSAGE_BYTES},
  });
  // Ends the connection unless a message arrives first.
  let timer: NodeJS.Timeout | undefined;
  const setTimer = (ms: number, onTime: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(onTime, ms);
  };
  try {
    signal.throwIfAborted();
    const ended = new Promise<never>((_, reject) => runSocket(settings, client, hooks, setTimer, reject));
    return await orAborted(ended, signal);
  } finally {
    clearTimeout(timer);
    // Not WebSocket.close, which waits for the peer.
    opened?.destroy();
    await client.destroy();
  }
}

function runSocket(
  {url, headers, timeoutMs, silenceMs}: HeadSubscriptionSettings,
  dispatcher: Client,
  {onSubscribed, onHead}: HeadHooks,
  setTimer: (ms: number, onTime: () => void) => void,
  fail: (failure: unknown) => void,
): void {
  const plainUrl = new URL(url);
  plainUrl.username = plainUrl.password = "";
  const socket = new WebSocket(plainUrl, {dispatcher, headers: {...encodeAuthorization(url), ...headers}});
  const awaitMessage = () =>
    setTimer(silenceMs, () => {
      socket.send(PING);
      setTimer(timeoutMs, () => fail(new NodeFailure(`no answer within ${timeoutMs} ms after a silence`)));
    });
  let isSubscribed = false;
  const readMessage = ({data}: MessageEvent) => {
    const bytes = Buffer.from(typeof data === "string" ? data : "");
    if (isSubscribed) awaitMessage();
    if (bytes.includes('"eth_subscription"')) onHead();
    else if (!isSubscribed) {
      const answer = parseAnswer(bytes, SUBSCRIBE_ID);
      if (answer.member === "error")
        throw toNodeError(answer.error, "eth_subscribe", url.origin, createRedaction(url, headers));
      isSubscribed = true;
      awaitMessage();
      onSubscribed();
    }
  };
  setTimer(timeoutMs, () => fail(new NodeFailure(`no subscription within ${timeoutMs} ms`)));
  socket.addEventListener("open", () => socket.send(SUBSCRIBE));
  socket.addEventListener("message", event => {
    try {
      readMessage(event);
    } catch (error) {
      fail(error);
    }
  });
  socket.addEventListener("error", () => fail(new NodeFailure("the WebSocket failed")));
  socket.addEventListener("close", () => fail(new NodeFailure("the connection was lost")));
}
