/**
 * A proxy in front of a node that spoils some of the answers:
 *
 *   caller --HTTP--> proxy --HTTP--> node         a fault at random for a share of the requests
 *   caller --WS----> proxy --TCP---> node         as it comes
 *
 *   delay        answers after `delayMs`
 *   cut          ends the connection in the middle of the answer
 *   garbage      answers with random bytes
 *   truncated    answers with the first half of the JSON
 *   tooMany      HTTP 429 with Retry-After
 *   unavailable  HTTP 503
 *   internalError answers -32603 to each call
 *   otherHash    changes the hash of a block in the answer
 *   otherChain   changes the answer to eth_chainId
 *   missingBlock answers null for a block, or for what is asked about a block
 *
 * Apart from these, `alter` changes the results of all answers: that of a node that lies.
 *
 * The choices follow from the seed and the order of the requests: the n-th request meets the n-th choice. Of two requests under
 * way at once, either may be the n-th. A fault that a request cannot have, such as otherChain without eth_chainId, is not chosen.
 */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from "node:http";
import {type AddressInfo, connect, type Socket} from "node:net";
import {setTimeout as sleep} from "node:timers/promises";
import {uniformInt} from "pure-rand/distribution/uniformInt";
import {xoroshiro128plus} from "pure-rand/generator/xoroshiro128plus";
import {Agent, request} from "undici";
import "../processes/testProcess.ts";
import {once} from "../wait.ts";
import {alterResults, FAULTS, type Fault, isPossible, type SentCall, spoil} from "./fault.ts";

interface FaultyProxyOptions {
  /** The node's URL, http. It can be changed later, for a node that was restarted on another port. */
  readonly target: string;
  readonly seed: number;
  /** Share of the requests that meet a fault, 0 to 1. 0 turns faults off. It can be changed later. */
  readonly share: number;
  /** Default: all. */
  readonly faults?: readonly Fault[];
  /** Default: 50. */
  readonly delayMs?: number;
  /** For tooMany. Default: 0. */
  readonly retryAfterSeconds?: number;
}

const PRECISION = 1_000_000;

export class FaultyProxy {
  target: string;
  share: number;
  /** How many requests met each fault. */
  readonly counts = Object.fromEntries(FAULTS.map(fault => [fault, 0])) as Record<Fault, number>;
  requestCount = 0;
  /** Returns what is answered in place of the node's result. */
  alter: ((method: string, result: unknown) => unknown) | undefined;
  private readonly options: FaultyProxyOptions;
  private readonly random: ReturnType<typeof xoroshiro128plus>;
  private readonly agent = new Agent();
  private readonly server: Server;
  private readonly open = new Set<Socket>();
  private readonly stopping = new AbortController();

  private constructor(options: FaultyProxyOptions) {
    this.options = options;
    this.target = options.target;
    this.share = options.share;
    this.random = xoroshiro128plus(options.seed);
    this.server = createServer((head, response) => void this.answer(head, response));
    this.server.on("connection", (socket: Socket) => this.keep(socket));
    this.server.on("upgrade", (head, socket, first) => this.relay(head, socket as Socket, first));
  }

  static async start(options: FaultyProxyOptions): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(options);
    proxy.server.listen(0, "127.0.0.1");
    await once(proxy.server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** All faults together. */
  get faultCount(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  /** Cuts every connection to and from it, and listens no more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const socket of this.open) socket.destroy();
    this.server.close();
    await once(this.server, "close");
    await this.agent.destroy();
  }

  private async answer(head: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of head) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString("utf8");
      const calls = [JSON.parse(body)].flat() as SentCall[];
      const fault = this.choose(calls);
      if (fault === "delay")
        await sleep(this.options.delayMs ?? 50, undefined, {signal: this.stopping.signal});
      if (fault === "tooMany")
        response.writeHead(429, {"retry-after": `${this.options.retryAfterSeconds ?? 0}`}).end();
      else if (fault === "unavailable") response.writeHead(503).end();
      else if (fault === "garbage") response.end(this.createGarbage());
      else this.send(response, await this.forward(head, body), calls, fault);
    } catch {
      // The node is down, or the proxy or its caller went away.
      if (!response.headersSent) response.writeHead(502);
      response.end();
    }
  }

  private choose(calls: readonly SentCall[]): Fault | undefined {
    this.requestCount++;
    // Two numbers for each request, whether it meets a fault or not, so that the next request's do not depend on it.
    const share = this.draw(PRECISION);
    const place = this.draw(PRECISION);
    if (share >= this.share * PRECISION) return undefined;
    const possible = (this.options.faults ?? FAULTS).filter(fault => isPossible(fault, calls));
    const fault = possible[place % possible.length];
    if (fault !== undefined) this.counts[fault]++;
    return fault;
  }

  private async forward(head: IncomingMessage, body: string): Promise<{status: number; text: string}> {
    const {statusCode, body: answer} = await request(new URL(head.url ?? "/", this.target), {
      method: "POST",
      headers: {"content-type": "application/json"},
      body,
      dispatcher: this.agent,
    });
    return {status: statusCode, text: await answer.text()};
  }

  private send(
    response: ServerResponse,
    {status, text}: {status: number; text: string},
    calls: readonly SentCall[],
    fault: Fault | undefined,
  ): void {
    const altered = this.alter === undefined ? text : alterResults(text, calls, this.alter);
    const sent = fault === undefined ? altered : spoil(altered, calls, fault);
    const bytes = Buffer.from(sent);
    const half = bytes.subarray(0, bytes.length >> 1);
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": fault === "truncated" ? half.length : bytes.length,
    });
    if (fault === "cut") response.write(half, () => response.destroy());
    else response.end(fault === "truncated" ? half : bytes);
  }

  private createGarbage(): Buffer {
    return Buffer.from(Array.from({length: 1 + this.draw(200)}, () => this.draw(256)));
  }

  /** @returns a number from 0 to below `end` */
  private draw(end: number): number {
    return uniformInt(this.random, 0, end - 1);
  }

  private relay(head: IncomingMessage, caller: Socket, first: Buffer): void {
    const {hostname, port} = new URL(this.target);
    const node = connect(Number(port), hostname);
    this.keep(node);
    const lines = head.rawHeaders.flatMap((name, at, all) =>
      at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : [],
    );
    node.write(`GET ${head.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    node.write(first);
    node.pipe(caller);
    caller.pipe(node);
    node.on("close", () => caller.destroy());
    caller.on("close", () => node.destroy());
  }

  private keep(socket: Socket): void {
    this.open.add(socket);
    socket.on("close", () => this.open.delete(socket));
    socket.on("error", () => {});
  }
}
