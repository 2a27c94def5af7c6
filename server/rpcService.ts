/** Answers request bodies: parses the envelope, checks limits, answers calls that need no lane, dispatches the rest. */
import {encodeResponse} from "../workers/messages/answers.ts";
import {CallFailure} from "../workers/messages/failure.ts";
import type {Dispatcher} from "./dispatch/dispatcher.ts";
import {PendingRequest} from "./dispatch/pendingRequest.ts";
import type {Work} from "./fairness/work.ts";
import {type Demand, measureDemand, refuseExcess} from "./methods/demand.ts";
import {LANES} from "./methods/lanes.ts";
import type {RequestView} from "./methods/method.ts";
import type {Methods} from "./methods/table.ts";
import type {CallTally} from "./observe/callTally.ts";
import type {TroubleLog} from "./observe/troubleLog.ts";
import type {ReplySink} from "./request/replySink.ts";
import {append, type LaneCalls, type Place} from "./request/requestCalls.ts";
import type {RequestRecord} from "./request/requestRecord.ts";
import {Piece} from "./request/taskText.ts";
import {type BodyLimits, type Call, type Envelope, parseEnvelope} from "./rpc/envelope.ts";
import {AheadError, createTimeoutError, ExcessError, encodeError, RpcCode, RpcError} from "./rpc/rpcError.ts";

interface Refusal {
  readonly error: RpcError;
  /** The method that the refusal is counted under. */
  readonly method: string;
  /** undefined: trying again does not help. */
  readonly retryAfterSeconds: number | undefined;
  /** The newest block in the store, for a request that names one above it. */
  readonly head?: number | undefined;
}

type OwnCalls = LaneCalls | undefined;

/** Calls for the lanes that are prepared in one part. */
const PART_CALLS = 4;
const PART_CHARACTERS = 64 * 1024;

/** The block may come at any moment, and another service may have it already. */
const AHEAD_RETRY_SECONDS = 1;

export class RpcService {
  constructor(
    private readonly setup: Omit<RequestView, "head" | "isBalanced" | "takesBytes">,
    private readonly methods: Methods,
    private readonly dispatcher: Dispatcher,
    private readonly tally: CallTally,
    private readonly trouble: TroubleLog,
    /** Requests for a block that is not here yet get HTTP 503. */
    private readonly isBalanced = false,
    private readonly parse: (body: Buffer, limits: BodyLimits) => Work<Envelope> = parseEnvelope,
  ) {}

  /** @param body - with at most WHOLE_BYTES, it is only read before the first yield */
  *answer(body: Buffer, reply: ReplySink, record: RequestRecord): Work {
    const {limits} = this.setup;
    let envelope: Envelope;
    try {
      // It may have waited for its turn.
      const waitedMs = Math.round(performance.now() - record.startedMs);
      if (waitedMs > limits.timeoutMs) throw createTimeoutError(limits.timeoutMs, waitedMs);
      envelope = yield* this.parse(body, limits);
    } catch (error) {
      const rpcError = this.asRpcError(error, record);
      this.tally.add("", rpcError.code);
      record.noteCode(rpcError.code);
      record.isExcess = rpcError instanceof ExcessError;
      sendText(reply, encodeError("null", rpcError));
      return;
    }
    yield* this.answerCalls(envelope, reply, record);
  }

  answerCall(call: Call, reply: ReplySink, record: RequestRecord): Work {
    return this.answerCalls({isBatch: false, calls: [call]}, reply, record);
  }

  private *answerCalls(envelope: Envelope, reply: ReplySink, record: RequestRecord): Work {
    try {
      const view = this.readView(envelope, reply);
      const demand = yield* measureDemand(envelope.calls, this.methods, view);
      const {costs, methods} = demand;
      this.describe(envelope, demand, record);
      const excess = refuseExcess(demand, view);
      if (excess !== undefined) {
        this.reject(envelope, {...excess, retryAfterSeconds: undefined}, reply, record);
        return;
      }
      const client = costs.some(cost => cost > 0) ? reply.readClient() : "";
      const busy = this.dispatcher.findBusyLane(costs, client);
      if (busy === undefined) yield* this.run(envelope, demand, view, reply, record, client);
      else this.reject(envelope, {...busy, method: methods[busy.lane]}, reply, record);
    } catch (error) {
      // Its connection ends, and nothing else.
      this.trouble.reportThrown(error, record.id);
      reply.close();
    }
  }

  private describe({calls, isBatch}: Envelope, {costs, readyCost}: Demand, record: RequestRecord): void {
    record.calls = calls.length;
    record.cost = costs.reduce((sum, cost) => sum + cost, readyCost);
    if (isBatch) record.method = "batch";
    else record.method = this.methods.find((calls[0] as Call).method)?.name ?? record.method;
  }

  private readView({isBatch}: Envelope, {acceptsBytes}: ReplySink): RequestView {
    const {chain, limits, estimates, gateway, maxProofTextBytes} = this.setup;
    // Each field by name: a spread took 3 us, and the object that it made was slower to read.
    return {
      head: chain.head(),
      chain,
      limits,
      estimates,
      gateway,
      isBalanced: this.isBalanced,
      takesBytes: acceptsBytes && !isBatch,
      maxProofTextBytes,
    };
  }

  private reject(envelope: Envelope, refusal: Refusal, reply: ReplySink, record: RequestRecord): void {
    const {error, method, retryAfterSeconds, head} = refusal;
    this.tally.add(method, error.code);
    record.noteCode(error.code);
    record.isExcess = error instanceof ExcessError;
    const idText = envelope.isBatch ? "null" : (envelope.calls[0]?.idText ?? "null");
    const text = encodeError(idText, error);
    if (retryAfterSeconds === undefined) sendText(reply, text);
    else reply.sendBusy(text, retryAfterSeconds, head);
  }

  /** Preparing a call raises its cost only if it is forwarded with long params. */
  private *run(
    envelope: Envelope,
    {costs, answeredBy}: Demand,
    view: RequestView,
    reply: ReplySink,
    record: RequestRecord,
    client: string,
  ): Work {
    const {calls, isBatch} = envelope;
    let places: Place[] = [];
    const byLane: [OwnCalls, OwnCalls, OwnCalls] = [undefined, undefined, undefined];
    let laneCount = 0;
    /** Calls answered here. They count once the request is sure not to be turned away. */
    const answered: [method: string, code: number][] = [];
    for (let at = 0; at < calls.length; at++) {
      const call = calls[at] as Call;
      if (places.length % PART_CALLS === PART_CALLS - 1) yield;
      const {idText} = call;
      // A notification gets no answer, and a caller that sends a transaction needs one. So it is not run.
      if (idText === undefined) continue;
      try {
        if (call.error !== undefined) throw call.error;
        const method = answeredBy[at];
        if (method === undefined) throw this.createUnknownError(call.method);
        if (method.lane === undefined) {
          places = append(places, encodeResponse(idText, "result", method.answer(call.params, view)));
          answered.push([method.name, 0]);
          if (isBatch) yield;
        } else {
          byLane[method.lane] ??= LANES[method.lane].createCalls(costs[method.lane]);
          const own = byLane[method.lane] as LaneCalls;
          const preparing = method.prepare(call.params, view, own);
          if (preparing !== undefined) yield* preparing;
          own.ids = append(own.ids, idText);
          places = append(places, method);
          laneCount++;
        }
      } catch (error) {
        const rpcError = this.asRpcError(error, record);
        if (this.isBalanced && rpcError instanceof AheadError) {
          const [method, head] = [call.method, view.head.latest];
          const retryAfterSeconds = AHEAD_RETRY_SECONDS;
          this.reject(envelope, {error: rpcError, method, retryAfterSeconds, head}, reply, record);
          return;
        }
        places = append(places, encodeError(idText, rpcError));
        answered.push([this.methods.find(call.method)?.name ?? "", rpcError.code]);
      }
    }
    for (const [method, code] of answered) {
      this.tally.add(method, code);
      record.noteCode(code);
    }
    if (places.length === 0) reply.sendNothing();
    else if (laneCount > 0) {
      const {head, limits} = view;
      const asked = {places, byLane};
      this.dispatcher.admit(
        new PendingRequest(record, isBatch, head, client, asked, reply, limits.timeoutMs),
      );
    } else if (isBatch) yield* sendTexts(reply, places as string[]);
    else sendText(reply, places[0] as string);
  }

  private createUnknownError(name: string): RpcError {
    const near = this.methods.findNear(name);
    const advice = near === undefined ? "" : `: did you mean ${near}?`;
    const message = `there is no method ${JSON.stringify(name.slice(0, 64))}${advice}`;
    return new RpcError(RpcCode.METHOD_NOT_FOUND, message);
  }

  private asRpcError(error: unknown, record: RequestRecord): RpcError {
    if (error instanceof RpcError) return error;
    if (error instanceof CallFailure) return this.trouble.reportFailure(error.failure, record.id);
    return this.trouble.reportThrown(error, record.id);
  }
}

function sendText(reply: ReplySink, text: string): void {
  reply.finish([new Piece(Buffer.from(text))]);
}

function* sendTexts(reply: ReplySink, answers: readonly string[]): Work {
  let text = "[";
  for (const [index, answer] of answers.entries()) {
    if (index > 0) text += ",";
    text += answer;
    if (text.length < PART_CHARACTERS) continue;
    reply.push([new Piece(Buffer.from(text))]);
    text = "";
    yield;
  }
  sendText(reply, `${text}]`);
}
