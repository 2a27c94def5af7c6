/**
 * The answer to one HTTP request, sent as fast as its reader takes it.
 *
 *   collecting -- finish(..) ------------------> whole    Content-Length; tryEnd takes what the kernel takes
 *       |
 *       +------- STREAM_FROM_BYTES pushed -----> chunked  one cork per event, writes of 64 KiB until one is refused
 *
 * Issue 1249 of uWebSockets.js reports that several corks in one answer break its chunks. On this build, answers of 200
 * MB to slow readers were right with every pattern that was tried. This file uses the most careful pattern: all writes
 * of an event are in one cork, and while the socket is full, nothing is written until onWritable. Bytes that the socket
 * has not taken stay here, except for at most one write.
 */

import type {Work} from "../fairness/work.ts";
import type {HttpResponse} from "../listener/exchange.ts";
import type {ReplySink} from "../request/replySink.ts";
import type {RequestRecord} from "../request/requestRecord.ts";
import {Piece} from "../request/taskText.ts";
import type {Address, Clients} from "./clientAddress.ts";
import type {Header} from "./cors.ts";
import type {Intake} from "./intake.ts";
import {PieceQueue} from "./sendQueue.ts";
import type {UnsentBytes} from "./unsentBytes.ts";

export const JSON_TYPE: Header = ["Content-Type", "application/json"];
const BYTES_TYPE: Header = ["Content-Type", "application/octet-stream"];
const OK = "200 OK";
const NO_HEADERS: readonly Header[] = [];

/**
 * A smaller answer waits until it is whole and is sent with its length, which is less work for clients. A batch of 100
 * proofs (640 KB) is smaller. Sent in chunks, a segment at a time, its p99 at 16 connections is 1.5 times as long
 * (batches of bench:peers).
 */
const STREAM_FROM_BYTES = 1024 * 1024;
/** uWebSockets.js copies the part of a chunked write that the kernel does not take, so this limits its copy. */
const WRITE_BYTES = 64 * 1024;
/** Chunks of so many bytes are written in one part of a turn. The kernel copies them. */
const PART_BYTES = 4 * WRITE_BYTES;

/** Tells a balancer how far this service is. @param head - the newest stored block */
export function headHeader(head: number | undefined): readonly Header[] {
  return head === undefined ? NO_HEADERS : [["X-Proofd-Head", `0x${head.toString(16)}`]];
}

/** @param pieces - of a JSON-RPC error */
function keepMessage(pieces: readonly Piece[]): Piece {
  const {error} = JSON.parse(Buffer.concat(pieces.map(({bytes}) => bytes)).toString());
  for (const piece of pieces) piece.release();
  return new Piece(Buffer.from(JSON.stringify({message: error.message})));
}

export class Reply implements ReplySink {
  /** The client has gone, or the answer is complete. Nothing more may be sent. */
  isOver = false;
  isBlocked = false;
  onAborted: (() => void) | undefined;
  onDrained: (() => void) | undefined;
  /** undefined until the whole body has come. */
  record: RequestRecord | undefined;
  /** Told once when the reply is over, whether complete or aborted. */
  owner: {settle(record: RequestRecord, isAborted: boolean): void} | undefined;
  acceptsBytes = false;
  /** The request's body comes in chunks, whose number bodyPieceLimit.ts limits. */
  isChunked = false;
  /** The caller's own X-Request-Id, or ours in its place. undefined: the caller gave none. */
  requestId: string | undefined;
  /** The client's address as a trusted proxy gives it (forwardedFor.ts). undefined: the connection's own. */
  forwarded: string | undefined;
  headers: readonly Header[] = NO_HEADERS;
  /** The request is one of CCIP-read: an error is `{"message"}`, not JSON-RPC. */
  isCcip = false;
  /** Status and headers in place of a 200 of JSON-RPC, for a request with one call. undefined: it stays a 200. */
  describe:
    | ((record: RequestRecord) => {readonly status: string; readonly headers: readonly Header[]})
    | undefined;

  private readonly turn: number;
  private readonly pieces: PieceQueue;
  private mode: "collecting" | "whole" | "chunked" = "collecting";
  private status = OK;
  private ownHeaders: readonly Header[] = [JSON_TYPE];
  private totalBytes = 0;
  private areHeadersSent = false;
  private isFinished = false;
  private watchesWritable = false;
  /** The rest is written in a turn that comes. */
  private isInLine = false;

  /**
   * Must run inside the route handler, because it registers the abort handler that uWebSockets.js requires.
   *
   * @param client - undefined: it is found by its address when it is asked for
   */
  constructor(
    private readonly response: HttpResponse,
    private readonly unsent: UnsentBytes,
    private readonly intake: Intake,
    private readonly clients: Clients,
    private client: string | undefined,
  ) {
    this.turn = intake.enter();
    this.pieces = new PieceQueue(unsent);
    response.onAborted(() => this.abort());
  }

  get unsentBytes(): number {
    return this.pieces.bytes;
  }

  sendAsBytes(): void {
    this.ownHeaders = [BYTES_TYPE];
  }

  push(pieces: readonly Piece[]): void {
    this.add(pieces);
    if (this.isOver) return;
    if (this.mode === "collecting" && this.unsentBytes >= STREAM_FROM_BYTES) this.mode = "chunked";
    if (this.mode === "chunked" && !this.isBlocked) this.begin();
    for (const piece of pieces) piece.wait();
    this.unsent.relieve();
  }

  finish(answer: readonly Piece[]): void {
    const isError = this.status !== OK || (this.record?.code ?? 0) !== 0;
    const pieces = this.isCcip && isError ? [keepMessage(answer)] : answer;
    this.add(pieces);
    if (this.isOver) return;
    this.isFinished = true;
    if (this.mode === "collecting") {
      this.mode = this.unsentBytes < STREAM_FROM_BYTES ? "whole" : "chunked";
      this.totalBytes = this.unsentBytes;
    }
    if (!this.isBlocked) this.intake.postpone(this.turn, () => this.begin());
    for (const piece of pieces) piece.wait();
    this.unsent.relieve();
  }

  readClient(): string {
    this.client ??= this.clients.of(this.readAddress());
    return this.client;
  }

  /** Of the client. May not be called after the reply is over. */
  readAddress(): Address {
    return this.forwarded ?? this.response.getRemoteAddress();
  }

  sendNothing(): void {
    this.send("204 No Content", [], "", false);
  }

  sendBusy(text: string, retryAfterSeconds: number, head?: number): void {
    const headers = [JSON_TYPE, ["Retry-After", String(retryAfterSeconds)] as const, ...headHeader(head)];
    this.send("503 Service Unavailable", headers, text, false);
  }

  /** Sends a whole answer. @param isLast - close the connection after it */
  send(status: string, headers: readonly Header[], body: string, isLast: boolean): void {
    if (body !== "" && !isLast) {
      this.status = status;
      this.ownHeaders = headers;
      this.finish([new Piece(Buffer.from(body))]);
      return;
    }
    this.sendAtOnce(status, headers, () => {
      // Called without arguments, since this build writes an undefined length as 2^63.
      if (body === "") this.response.endWithoutBody();
      else this.response.end(body, isLast);
    });
  }

  /** Like `send`, for a HEAD request: sends the headers and the length, without a body. */
  sendHeaders(status: string, headers: readonly Header[], bodyBytes: number): void {
    this.sendAtOnce(status, headers, () => {
      // If endWithoutBody got the length, this build would wait for that body and never reuse the connection.
      this.response.writeHeader("Content-Length", String(bodyBytes));
      this.response.endWithoutBody();
    });
  }

  close(): void {
    if (!this.isOver) this.response.close();
  }

  private add(pieces: readonly Piece[]): void {
    if (this.isOver) for (const piece of pieces) piece.release();
    else this.pieces.add(pieces);
  }

  /** Sends an answer whose bytes are few, and are not counted (unsentBytes.ts). */
  private sendAtOnce(status: string, headers: readonly Header[], end: () => void): void {
    this.intake.postpone(this.turn, () => {
      if (this.isOver) return;
      this.end(false, () => {
        this.response.cork(() => {
          this.writeHeaders(status, headers);
          end();
        });
      });
    });
  }

  /** Writes a part of what is unsent, and the rest when the client has its turn. */
  private begin(): void {
    if (this.pump()) this.continueInTurn();
  }

  /** Until the client has its turn, the reply is blocked as if the socket took no more. */
  private continueInTurn(): void {
    this.isBlocked = true;
    if (this.isInLine) return;
    this.isInLine = true;
    this.intake.start(this.writeOn(), () => this.readClient(), "answer");
  }

  private *writeOn(): Work {
    while (!this.isOver) {
      this.isBlocked = false;
      if (!this.pump()) break;
      this.isBlocked = true;
      yield;
    }
    this.isInLine = false;
    if (!this.isOver) this.onDrained?.();
  }

  /** @returns whether more is unsent that the socket may take */
  private pump(): boolean {
    if (this.isOver) return false;
    this.response.cork(() => {
      if (!this.areHeadersSent) {
        this.areHeadersSent = true;
        this.writeOwnHeaders();
      }
      if (this.mode === "whole") this.pumpWhole();
      else this.pumpChunks();
    });
    if (this.isOver) return false;
    if (!this.isBlocked) return !this.pieces.isEmpty;
    this.unsent.stall(this);
    if (this.watchesWritable) return false;
    this.watchesWritable = true;
    this.response.onWritable(() => this.resume());
    return false;
  }

  private writeOwnHeaders(): void {
    const {describe, record, status, ownHeaders} = this;
    if (describe === undefined || record === undefined || status !== OK)
      this.writeHeaders(status, ownHeaders);
    else {
      const described = describe(record);
      this.writeHeaders(described.status, [...ownHeaders, ...described.headers]);
    }
  }

  private writeHeaders(status: string, headers: readonly Header[]): void {
    this.response.writeStatus(status);
    for (const [name, value] of headers) this.response.writeHeader(name, value);
    for (const [name, value] of this.headers) this.response.writeHeader(name, value);
  }

  private pumpWhole(): void {
    this.pieces.join();
    for (let rest = this.pieces.peek(); rest !== undefined; rest = this.pieces.peek()) {
      const before = this.response.getWriteOffset();
      const [isTaken, isComplete] = this.response.tryEnd(rest, this.totalBytes);
      if (isComplete) {
        this.end(false, undefined);
        return;
      }
      if (!isTaken) {
        this.isBlocked = true;
        this.pieces.countSent(this.response.getWriteOffset() - before);
        return;
      }
      this.pieces.countSent(rest.length);
    }
  }

  /** uWebSockets.js has sent or copied a chunk when `write` returns. */
  private pumpChunks(): void {
    let left = PART_BYTES;
    for (let rest = this.pieces.peek(); rest !== undefined && left > 0; rest = this.pieces.peek()) {
      const chunk = rest.subarray(0, WRITE_BYTES);
      const isTaken = this.response.write(chunk, this.pieces.isFirstStable(chunk.length));
      this.pieces.countSent(chunk.length);
      left -= chunk.length;
      if (!isTaken) {
        this.isBlocked = true;
        return;
      }
    }
    if (this.isFinished && this.pieces.isEmpty) this.end(false, () => this.response.end());
  }

  /** An empty cork makes uWebSockets.js send the bytes that it has copied. */
  private resume(): boolean {
    if (this.isOver) return true;
    this.unsent.unstall(this);
    this.continueInTurn();
    return true;
  }

  private abort(): void {
    if (this.isOver) return;
    this.isOver = true;
    // Before the end: the record is complete only when whoever waits has been told.
    this.onAborted?.();
    this.end(true, undefined);
  }

  /** Runs `send` as the last use of the response. */
  private end(isAborted: boolean, send: (() => void) | undefined): void {
    this.isOver = true;
    send?.();
    this.pieces.clear();
    this.unsent.unstall(this);
    if (this.record !== undefined) this.owner?.settle(this.record, isAborted);
  }
}
