/**
 * Answers a request body. It parses the envelope, checks the limits before any work, answers the calls that need no lane,
 * and hands the others to the dispatcher. It also reads the head, once for the whole HTTP request.
 */
import {encodeResponse} from "../workers/job/answers.ts";
import type {OpenReply} from "./answer/replySink.ts";
import type {ByLane, LaneCalls, Place} from "./answer/requestCalls.ts";
import {Piece} from "./answer/taskText.ts";
import type {Dispatcher} from "./dispatch/dispatcher.ts";
import {PendingRequest} from "./dispatch/pendingRequest.ts";
import {type Demand, measureDemand, refuseExcess} from "./methods/demand.ts";
import {LANES} from "./methods/lanes.ts";
import {type Method, RecordFailure, type RequestView} from "./methods/method.ts";
import type {MethodTable} from "./methods/table.ts";
import type {CallTally} from "./observe/callTally.ts";
import type {TroubleLog} from "./observe/troubleLog.ts";
import {type Call, type Envelope, parseEnvelope} from "./rpc/envelope.ts";
import {encodeError, RpcCode, RpcError} from "./rpc/rpcError.ts";

/** The error of a request of which no call runs. */
interface Refusal {
  readonly error: RpcError;
  /** The method that the refusal is counted under. */
  readonly method: string;
  /** undefined if the request would be refused later too. */
  readonly retryAfterSeconds: number | undefined;
}

export class Service {
  private readonly setup: Omit<RequestView, "head">;
  private readonly methods: MethodTable;
  private readonly dispatcher: Dispatcher;
  private readonly tally: CallTally;
  private readonly trouble: TroubleLog;

  constructor(
    setup: Omit<RequestView, "head">,
    methods: MethodTable,
    dispatcher: Dispatcher,
    {tally, trouble}: {readonly tally: CallTally; readonly trouble: TroubleLog},
  ) {
    this.setup = setup;
    this.methods = methods;
    this.dispatcher = dispatcher;
    this.tally = tally;
    this.trouble = trouble;
  }

  /**
   * Answers one HTTP request, at once or when the lanes have answered.
   *
   * @param body - only read during this call
   */
  answer(body: Buffer, reply: OpenReply, requestId: string): void {
    const {chain, limits, estimates, maxProofTextBytes} = this.setup;
    let envelope: Envelope;
    try {
      envelope = parseEnvelope(body, limits);
    } catch (error) {
      const rpcError = this.asRpcError(error, requestId);
      this.tally.add("", rpcError.code, 1);
      sendText(reply, encodeError("null", rpcError));
      return;
    }
    const view = {head: chain.head(), chain, limits, estimates, maxProofTextBytes};
    const demand = measureDemand(envelope.calls, this.methods, view);
    const {admission} = this.dispatcher;
    const client = admission.needsClient(demand.costs) ? reply.readClient() : "";
    const refusal = this.refuse(demand, view, client);
    if (refusal === undefined) this.run(envelope, demand.costs, view, reply, requestId, client);
    else this.turnAway(envelope, refusal, reply);
  }

  private refuse(demand: Demand, view: RequestView, client: string): Refusal | undefined {
    const excess = refuseExcess(demand, view);
    if (excess !== undefined) return {...excess, retryAfterSeconds: undefined};
    const busy = this.dispatcher.admission.refuse(demand.costs, client);
    return busy === undefined ? undefined : {...busy, method: demand.methods[busy.lane]};
  }

  /** Answers the whole request with one error. None of its calls runs. */
  private turnAway(envelope: Envelope, refusal: Refusal, reply: OpenReply): void {
    const {error, method, retryAfterSeconds} = refusal;
    this.tally.add(method, error.code, 1);
    const idText = envelope.isBatch ? "null" : ((envelope.calls[0] as Call).idText ?? "null");
    const text = encodeError(idText, error);
    if (retryAfterSeconds === undefined) sendText(reply, text);
    else reply.sendBusy(text, retryAfterSeconds);
  }

  /** @param costs - of the calls of each lane. Preparing a call does not raise its cost */
  private run(
    {calls, isBatch}: Envelope,
    costs: ByLane<number>,
    view: RequestView,
    reply: OpenReply,
    requestId: string,
    client: string,
  ): void {
    const places: Place[] = [];
    const byLane: [LaneCalls | undefined, LaneCalls | undefined] = [undefined, undefined];
    let laneCount = 0;
    for (const call of calls) {
      const {idText} = call;
      // A notification needs no answer, and no method here changes anything. So it is not run.
      if (idText === undefined) continue;
      try {
        if (call.error !== undefined) throw call.error;
        const method = this.requireMethod(call.method);
        if (method.lane === undefined) {
          places.push(encodeResponse(idText, "result", method.answer(call.params, view)));
          this.tally.add(method.name, 0, 1);
        } else {
          byLane[method.lane] ??= LANES[method.lane].createCalls(costs[method.lane]);
          const own = byLane[method.lane] as LaneCalls;
          method.prepare(call.params, view, own);
          own.ids.push(idText);
          places.push(method);
          laneCount++;
        }
      } catch (error) {
        const rpcError = this.asRpcError(error, requestId);
        places.push(encodeError(idText, rpcError));
        this.tally.add(call.method, rpcError.code, 1);
      }
    }
    if (places.length === 0) reply.sendNothing();
    else if (laneCount === 0) sendText(reply, isBatch ? `[${places.join(",")}]` : (places[0] as string));
    else {
      const origin = {id: requestId, isBatch, head: view.head, client};
      const {timeoutMs} = view.limits;
      this.dispatcher.admit(new PendingRequest(origin, {places, byLane}, reply, timeoutMs));
    }
  }

  /** @throws RpcError METHOD_NOT_FOUND */
  private requireMethod(name: string): Method {
    const method = this.methods.find(name);
    if (method !== undefined) return method;
    throw new RpcError(RpcCode.METHOD_NOT_FOUND, `there is no method ${JSON.stringify(name.slice(0, 64))}`);
  }

  private asRpcError(error: unknown, requestId: string): RpcError {
    if (error instanceof RpcError) return error;
    if (error instanceof RecordFailure) return this.trouble.reportFailure(error.failure, requestId);
    return this.trouble.reportThrown(error, requestId);
  }
}

function sendText(reply: OpenReply, text: string): void {
  reply.finish([new Piece(Buffer.from(text))]);
}
