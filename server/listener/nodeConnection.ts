/**
 * One connection of node:http. Node parses all that a socket read gives, 64 KB, in one go: 10 900 chunks of one byte or
 * 2000 requests take it 30 to 60 ms, also after the connection was closed in between. So what a read gave is parsed in
 * slices, in turns of clients:
 *
 *   socket -- read --> rest -- slices of SLICE_LINES lines --> Node's parser --> requests, pieces of bodies
 *       ^                                                                            |
 *       +---- paused while there is a rest, or while a body is not to be read -------+
 */
import type {IncomingMessage, ServerResponse} from "node:http";
import type {Socket} from "node:net";
import type {Work} from "../fairness/work.ts";
import type {Exchanges} from "./exchange.ts";
import {NodeRequest} from "./nodeRequest.ts";
import {NodeResponse} from "./nodeResponse.ts";

/** Node takes some 3 us for a chunk, which has two lines, and 30 us for a request, which has three or more. */
const SLICE_LINES = 16;
const NEWLINE = 0x0a;
/** A short request that waits does not pause its socket, and is not counted. */
const FREE_BYTES = 4096;

type Parse = (slice: Buffer) => void;

export class NodeConnection {
  private rest: Buffer | undefined;
  /** At least those of a rest that is longer than FREE_BYTES. While there are any, the socket is paused. */
  private heldBytes = 0;
  private isWorking = false;
  private isHeld = false;
  private last: NodeResponse | undefined;
  private readonly parse: Parse;

  /** @param socket - for which node:http listens already */
  constructor(
    private readonly socket: Socket,
    readonly client: string,
    private readonly exchanges: Exchanges,
  ) {
    // Node reads a socket past its listeners, until another one is added.
    const [parse] = socket.listeners("data") as [Parse];
    this.parse = parse;
    socket.on("data", (read: Buffer) => this.add(read));
    socket.removeListener("data", parse);
    socket.on("drain", () => this.parseRest());
    socket.on("close", () => this.forget());
  }

  pause(): void {
    this.isHeld = true;
    this.socket.pause();
  }

  resume(): void {
    this.isHeld = false;
    if (this.rest === undefined) this.socket.resume();
    else this.parseRest();
  }

  /** Others, who have less, need the room for what is not parsed. */
  giveWay(): void {
    this.forget();
    this.socket.destroy();
  }

  take(request: IncomingMessage, answer: ServerResponse): void {
    if (this.socket.destroyed || this.socket.writableEnded) {
      // Node would do so with an error for each, which takes 30 us.
      request.destroy();
      return;
    }
    const {last} = this;
    if (last !== undefined && !last.isSent) {
      if (!last.isEnded || last.onClosed !== undefined) last.close();
      else last.onClosed = () => this.take(request, answer);
      return;
    }
    const response = new NodeResponse(request, answer, this);
    this.last = response;
    this.exchanges.take(response, new NodeRequest(request));
  }

  private add(read: Buffer): void {
    // Node resumes a socket after each request.
    this.rest = this.rest === undefined ? read : Buffer.concat([this.rest, read]);
    this.parseRest();
    const {rest} = this;
    if (rest === undefined || rest.length <= FREE_BYTES) return;
    this.socket.pause();
    const moreBytes = Math.max(0, rest.length - this.heldBytes);
    if (this.exchanges.unread.add(this, moreBytes) === undefined) this.heldBytes += moreBytes;
    else this.giveWay();
  }

  private parseRest(): void {
    if (this.rest === undefined || this.isWorking) return;
    this.isWorking = true;
    this.exchanges.work(this.client, this.parseSlices());
  }

  /** Node may not get another request while the socket takes no more of an answer. */
  private *parseSlices(): Work {
    const {socket} = this;
    while (this.rest !== undefined && !this.isHeld && !socket.writableNeedDrain && !socket.destroyed) {
      const slice = this.cutSlice(this.rest);
      // Before it is parsed: Node may pause the socket then.
      if (this.rest === undefined && this.heldBytes > 0) {
        this.forget();
        socket.resume();
      }
      this.parse(slice);
      if (this.heldBytes > 0) socket.pause();
      if (this.rest !== undefined) yield;
    }
    this.isWorking = false;
  }

  private cutSlice(rest: Buffer): Buffer {
    let end = 0;
    for (let lines = 0; lines < SLICE_LINES && end < rest.length; lines++)
      end = rest.indexOf(NEWLINE, end) + 1 || rest.length;
    this.rest = end === rest.length ? undefined : rest.subarray(end);
    return rest.subarray(0, end);
  }

  private forget(): void {
    this.rest = undefined;
    if (this.heldBytes > 0) this.exchanges.unread.remove(this, this.heldBytes);
    this.heldBytes = 0;
  }
}
