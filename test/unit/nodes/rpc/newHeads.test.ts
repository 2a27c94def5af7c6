/** Announced blocks, over real WebSockets of a node that does as the test says. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {createServer, type IncomingMessage, type Server} from "node:http";
import type {AddressInfo, Socket} from "node:net";
import {afterEach, beforeEach, describe, test} from "node:test";
import {followHeads} from "../../../../nodes/rpc/headSubscription.ts";
import {HeadSignal, type HeadsEvent} from "../../../../nodes/rpc/newHeads.ts";
import {NodeFailure} from "../../../../nodes/rpc/node.ts";
import {Upstream} from "../../../support/http/upstream.ts";
import {once, waitUntil} from "../../../support/wait.ts";
import "../../../support/processes/testProcess.ts";

/** RFC 6455, section 1.3. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 0x81;

class SocketNode {
  /** Sent to whoever connects. */
  greeting: string | undefined;
  /** Heads of the requests that opened a WebSocket. */
  readonly heads: IncomingMessage[] = [];
  private readonly server: Server;
  private readonly open = new Set<Socket>();

  private constructor(server: Server) {
    this.server = server;
    server.on("connection", (socket: Socket) => {
      this.open.add(socket);
      socket.on("close", () => this.open.delete(socket));
      socket.on("error", () => {});
    });
    server.on("upgrade", (head, socket) => {
      this.heads.push(head);
      const key = `${head.headers["sec-websocket-key"]}${ACCEPT_SUFFIX}`;
      const accept = createHash("sha1").update(key).digest("base64");
      const lines = ["HTTP/1.1 101 X", "Upgrade: websocket", "Connection: Upgrade"];
      socket.write(`${[...lines, `Sec-WebSocket-Accept: ${accept}`].join("\r\n")}\r\n\r\n`);
      socket.resume();
      // The sockets of an HTTP server stay half open.
      socket.on("end", () => socket.end());
      if (this.greeting !== undefined) socket.write(encodeFrame(this.greeting));
    });
  }

  static async start(): Promise<SocketNode> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new SocketNode(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}/secret-path`;
  }

  get socketCount(): number {
    return this.open.size;
  }

  /** Sends a message to everyone. */
  send(text: string): void {
    for (const socket of this.open) socket.write(encodeFrame(text));
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.open) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, "close");
  }
}

function encodeFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  // A length below 126 must be written in one byte. None here is between that and 2^16.
  if (bytes.length < 126) return Buffer.concat([Buffer.of(TEXT, bytes.length), bytes]);
  const head = Buffer.alloc(10);
  head[0] = TEXT;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, bytes]);
}

/** Where it must not be over, on any machine. */
const NEVER_MS = 3_600_000;
const SUBSCRIBED = '{"jsonrpc":"2.0","id":1,"result":"0x1"}';
const HEAD = '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x1","result":{}}}';

describe("HeadSignal", () => {
  const never = new AbortController().signal;
  let node: SocketNode;
  let events: HeadsEvent[];
  let heads: HeadSignal;

  beforeEach(async () => {
    node = await SocketNode.start();
    node.greeting = SUBSCRIBED;
    events = [];
  });

  afterEach(async () => {
    await heads.close();
    await node.stop();
  });

  function listen(urls: readonly string[], times: {pollMs?: number; timeoutMs?: number} = {}): void {
    const settings = {urls, headers: {"x-key": "a"}, pollMs: NEVER_MS, timeoutMs: NEVER_MS, ...times};
    heads = new HeadSignal(settings, event => events.push(event), {firstMs: 1, longestMs: 4});
  }

  async function untilState(count: number): Promise<HeadsEvent> {
    await waitUntil(`${count} events`, () => events.length >= count);
    return events[count - 1] as HeadsEvent;
  }

  test("a head that the node announces is a signal, also one that came before the call", async () => {
    listen([node.url]);
    assert.equal((await untilState(1)).state, "subscribed");
    const waiting = heads.next(never);
    node.send(HEAD);
    await waiting;
    node.send(HEAD);
    await heads.next(never);
  });

  test("the headers and the URL's user are sent, and are in no event", async () => {
    const url = new URL(node.url);
    url.username = "secret-user";
    url.password = "secret-password";
    listen([url.href]);
    assert.equal((await untilState(1)).name, url.origin);
    const {url: path, headers} = node.heads[0] as (typeof node.heads)[0];
    assert.deepEqual([path, headers["x-key"]], ["/secret-path", "a"]);
    const credentials = Buffer.from("secret-user:secret-password").toString("base64");
    assert.equal(headers.authorization, `Basic ${credentials}`);
    assert.doesNotMatch(JSON.stringify(events), /secret/);
  });

  test("every poll's time is a signal, without a subscription and with one that is silent", async () => {
    for (const urls of [[], [node.url]]) {
      listen(urls, {pollMs: 1});
      await untilState(urls.length);
      for (let at = 0; at < 3; at++) await heads.next(never);
      assert.equal(events.length, urls.length);
      await heads.close();
    }
  });

  test("after a lost connection it subscribes again, with one event for each change", async () => {
    listen([node.url]);
    await untilState(1);
    node.cut();
    await untilState(3);
    const waiting = heads.next(never);
    node.send(HEAD);
    await waiting;
    assert.deepEqual(
      events.map(({state, reason}) => [state, reason]),
      [
        ["subscribed", "the node announces new blocks"],
        ["polling", "the connection was lost"],
        ["subscribed", "the node announces new blocks"],
      ],
    );
  });

  test("a second node takes over", async () => {
    const down = new Upstream();
    await down.start();
    const url = down.url.href.replace("http:", "ws:");
    await down.stop();
    listen([url, node.url]);
    assert.equal((await untilState(1)).state, "polling");
    assert.deepEqual(await untilState(2), {
      kind: "heads",
      name: new URL(node.url).origin,
      state: "subscribed",
      reason: "the node announces new blocks",
    });
  });

  test("what a node without newHeads answers is a reason to poll", async () => {
    const table: [string, RegExp][] = [
      [
        '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no secret-path here"}}',
        /^ws:\/\/127\.0\.0\.1:[0-9]+ refuses eth_subscribe: no \*\*\* here \(-32601\)$/,
      ],
      ["<html>", /^its answer is not JSON-RPC 2\.0$/],
      ['{"jsonrpc":"2.0","id":7,"result":"0x1"}', /^its answer has another request's id$/],
      ["x".repeat(2 ** 20 + 1), /^(the WebSocket failed|the connection was lost)$/],
    ];
    for (const [greeting, reason] of table) {
      events.length = 0;
      node.greeting = greeting;
      listen([node.url]);
      const event = await untilState(1);
      assert.equal(event.state, "polling");
      assert.match(event.reason, reason);
      await heads.close();
    }
  });

  test("an error that is not of a node ends the wait for a head", async () => {
    const settings = {urls: [node.url], headers: {"x-key": "a\nb"}, pollMs: NEVER_MS, timeoutMs: NEVER_MS};
    heads = new HeadSignal(settings, event => events.push(event));
    for (let at = 0; at < 2; at++) await assert.rejects(heads.next(never), {name: "TypeError"});
    assert.deepEqual(events, []);
  });

  test("a node that never answers is given up after the time-out", async () => {
    node.greeting = undefined;
    listen([node.url], {timeoutMs: 20});
    assert.equal((await untilState(1)).reason, "no subscription within 20 ms");
  });

  test("a subscription that is silent, and does not answer when it is asked, has ended", async () => {
    listen([], {});
    let count = 0;
    const hooks = {onSubscribed: () => count++, onHead: () => {}};
    const settings = {url: new URL(node.url), headers: {}, timeoutMs: 500, silenceMs: 1};
    // On a busy machine the subscription may take longer.
    const reason = /^no (subscription within 500 ms|answer within 500 ms after a silence)$/;
    const isExpected = (error: unknown) => error instanceof NodeFailure && reason.test(error.message);
    while (count === 0) await assert.rejects(followHeads(settings, hooks, never), isExpected);
  });

  test("the signal ends the wait with its reason, and closing ends the connection", async () => {
    listen([node.url]);
    await untilState(1);
    const ending = new AbortController();
    const reason = new Error("enough");
    const waiting = assert.rejects(heads.next(ending.signal), reason);
    ending.abort(reason);
    await waiting;
    await assert.rejects(heads.next(ending.signal), reason);
    await heads.close();
    await waitUntil("closed sockets", () => node.socketCount === 0);
    assert.equal(events.length, 1);
  });
});
