/**
 * JSON-RPC for the operator's own programs: `serve --finality manual --admin-port`. It listens on 127.0.0.1 only.
 *
 *   admin_setFinalized [block]    marks blocks up to this one as finalized, permanently
 *
 * Every program of this machine may call it, but no web page: a request must be JSON by its Content-Type, which a page of
 * another origin may not send unasked, must name this address as its Host, and must have no Origin, which browsers add.
 */
import {once} from "node:events";
import {createServer, type IncomingMessage, type Server, type ServerResponse} from "node:http";
import type {AddressInfo} from "node:net";
import {type ProofPool, StoreError} from "../../workers/engine.ts";
import {encodeResponse} from "../../workers/job/answers.ts";
import {type Call, parseEnvelope} from "../rpc/envelope.ts";
import {encodeQuantity, parseQuantity} from "../rpc/quantity.ts";
import {createBlockUnknownError, encodeError, RpcCode, RpcError, shorten} from "../rpc/rpcError.ts";
import {MAX_BLOCK} from "./blockOrder.ts";
import type {OrderListener} from "./controlServer.ts";

const HOST = "127.0.0.1";
const METHOD = "admin_setFinalized";
const RECEIVE_MS = 5_000;
const MAX_CONNECTIONS = 16;
const MAX_HEADER_BYTES = 4096;
const MAX_BODY_BYTES = 4096;
const BODY_LIMITS = {batchCalls: 16, members: 256, fields: 256};
const JSON_TYPE = /^application\/json\s*(;|$)/i;

export class AdminServer {
  /** On which it listens. */
  readonly port: number;
  private readonly server: Server;
  private readonly pool: ProofPool;
  private readonly onOrder: OrderListener;

  private constructor(server: Server, pool: ProofPool, onOrder: OrderListener) {
    this.server = server;
    this.pool = pool;
    this.onOrder = onOrder;
    this.port = (server.address() as AddressInfo).port;
    server.on("request", (request, response) => {
      this.take(request, response).catch((error: Error) => void response.destroy(error));
    });
  }

  /**
   * @param port - 0 takes a free port
   * @param pool - the caller closes it, after `close`
   * @throws Error if it cannot listen
   */
  static async start(port: number, pool: ProofPool, onOrder: OrderListener): Promise<AdminServer> {
    const server = createServer({
      requestTimeout: RECEIVE_MS,
      headersTimeout: RECEIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: RECEIVE_MS,
    });
    server.maxConnections = MAX_CONNECTIONS;
    server.listen(port, HOST);
    await once(server, "listening");
    return new AdminServer(server, pool, onOrder);
  }

  /** Takes no more calls, and ends the connections once their calls are answered. */
  async close(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.server.closeIdleConnections();
    await closed;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.refuse(request);
    if (refusal !== undefined) {
      send(response, refusal.status, `${refusal.reason}\n`, "text/plain");
      return;
    }
    const body = await readBody(request);
    if (body === undefined)
      send(response, 413, `a body may have at most ${MAX_BODY_BYTES} bytes\n`, "text/plain");
    else send(response, 200, await this.answer(body), "application/json");
  }

  private refuse(request: IncomingMessage): {status: number; reason: string} | undefined {
    const {host, origin, "content-type": type = ""} = request.headers;
    if (host !== `${HOST}:${this.port}` && host !== `localhost:${this.port}`)
      return {status: 403, reason: `the Host must be ${HOST}:${this.port} or localhost:${this.port}`};
    if (origin !== undefined) return {status: 403, reason: "web pages may not call this port"};
    if (request.method !== "POST") return {status: 405, reason: "only POST is answered here"};
    if (!JSON_TYPE.test(type)) return {status: 415, reason: "the Content-Type must be application/json"};
    return undefined;
  }

  private async answer(body: Buffer): Promise<string> {
    try {
      const {isBatch, calls} = parseEnvelope(body, BODY_LIMITS);
      const answers: string[] = [];
      // One after the other, as finality rises.
      for (const call of calls) {
        const text = await this.answerCall(call);
        if (call.idText !== undefined) answers.push(text);
      }
      return isBatch && answers.length > 0 ? `[${answers.join(",")}]` : answers.join("");
    } catch (error) {
      if (error instanceof RpcError) return encodeError("null", error);
      throw error;
    }
  }

  private async answerCall({idText = "null", method, params, error}: Call): Promise<string> {
    try {
      if (error !== undefined) throw error;
      if (method !== METHOD)
        throw new RpcError(RpcCode.METHOD_NOT_FOUND, `no method ${shorten(method)} here: expected ${METHOD}`);
      return encodeResponse(idText, "result", await this.setFinalized(params));
    } catch (thrown) {
      if (thrown instanceof RpcError) return encodeError(idText, thrown);
      throw thrown;
    }
  }

  /** @returns the finality before and after as JSON text. @throws RpcError */
  private async setFinalized(params: Call["params"]): Promise<string> {
    const [selector, ...more] = Array.isArray(params) ? params : [];
    const block = typeof selector === "string" && more.length === 0 ? parseQuantity(selector) : undefined;
    if (block === undefined)
      throw new RpcError(RpcCode.INVALID_PARAMS, "expected params [block], a 0x block number");
    const before = this.pool.chain.head();
    if (block > MAX_BLOCK) throw createBlockUnknownError(selector, before);
    const order = {kind: "finalize", to: block} as const;
    try {
      const after = await this.pool.finalize(block);
      this.onOrder(order, {ok: true, before, after});
      return JSON.stringify({
        before: encodeQuantity(before.finalized),
        finalized: encodeQuantity(after.finalized),
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.onOrder(order, {ok: false, message: error.message});
      if (error.code === "BLOCK_UNKNOWN") throw createBlockUnknownError(selector, this.pool.chain.head());
      if (error.code === "NOT_AUDITED") throw new RpcError(RpcCode.BLOCK_UNKNOWN, error.message);
      throw new RpcError(RpcCode.INTERNAL_ERROR, error.message);
    }
  }
}

/** @returns undefined if the body is too long */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, {"Content-Type": type, Connection: "close"}).end(text);
}
