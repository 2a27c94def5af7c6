/**
 * From a body to its answer: the envelope, the limits that hold before any work, the calls that need no lane, and the
 * hand-over of the others to the dispatcher. One head for the whole HTTP request is taken here.
 */
import {ProofForm, packedBytes} from "../workers/job/packedCall.ts";
import type {ProofPool} from "../workers/pool/pool.ts";
import {Piece} from "./answer/taskText.ts";
import type {Dispatcher} from "./dispatch/dispatcher.ts";
import {LANE_METHODS, LaneId} from "./dispatch/laneId.ts";
import {PendingRequest} from "./dispatch/pendingRequest.ts";
import type {PreparedEstimate, Slot} from "./dispatch/requestCalls.ts";
import {type Estimates, prepareEstimate} from "./estimates.ts";
import type {Reply} from "./http/reply.ts";
import {
  BLOCK_TEXT_BYTES,
  CALL_TEXT_BYTES,
  ESTIMATE_COST,
  type Limits,
  MAX_ESTIMATE_TEXT_BYTES,
} from "./limits.ts";
import {estimateCost} from "./methods/estimateGas/estimateCost.ts";
import {
  answerMethod,
  ESTIMATE_METHOD,
  PROOF_AT_METHOD,
  PROOF_METHOD,
  RecordFailure,
  requireArray,
  type ServiceView,
} from "./methods/methods.ts";
import {PROOF_PARAMS, packProofCall, proofCost} from "./methods/proofParams.ts";
import type {CallTally} from "./observe/callTally.ts";
import type {TroubleLog} from "./observe/troubleLog.ts";
import {type Call, type Envelope, parseEnvelope} from "./rpc/envelope.ts";
import {createLimitError, encodeError, RpcError} from "./rpc/rpcError.ts";

/** A JSON string's character takes at most 3 bytes of UTF-8 (a pair of surrogates 4). */
const MAX_BYTES_PER_CHARACTER = 3;

/** What one request asks of the lanes, told from its shape alone. */
interface Demand {
  readonly costs: [proof: number, estimate: number];
  /** The method of each lane's first call. */
  readonly methods: [proof: string, estimate: string];
  packedBytes: number;
  responseBytes: number;
}

/** Why nothing of a request runs. */
interface Refusal {
  readonly error: RpcError;
  /** Under which it is counted. */
  readonly method: string;
  /** null: it would not be taken later either. */
  readonly retryAfterSeconds: number | null;
}

export class Service {
  readonly #pool: ProofPool;
  readonly #estimates: Estimates;
  readonly #limits: Limits;
  readonly #dispatcher: Dispatcher;
  readonly #tally: CallTally;
  readonly #trouble: TroubleLog;

  constructor(
    pool: ProofPool,
    estimates: Estimates,
    limits: Limits,
    dispatcher: Dispatcher,
    tally: CallTally,
    trouble: TroubleLog,
  ) {
    this.#pool = pool;
    this.#estimates = estimates;
    this.#limits = limits;
    this.#dispatcher = dispatcher;
    this.#tally = tally;
    this.#trouble = trouble;
  }

  /**
   * Answers one HTTP request, at once or when the lanes have.
   *
   * @param body - only read during this call
   */
  answer(body: Buffer, reply: Reply, requestId: string): void {
    let envelope: Envelope;
    try {
      envelope = parseEnvelope(body, this.#limits);
    } catch (error) {
      const rpcError = this.#asRpcError(error, requestId);
      this.#tally.add("", rpcError.code, 1);
      sendText(reply, encodeError("null", rpcError));
      return;
    }
    const demand = this.#measure(envelope);
    const client = demand.costs[LaneId.ESTIMATE] > 0 ? reply.readClient() : "";
    const refusal = this.#refuse(demand, client);
    if (refusal === null) this.#run(envelope, demand, reply, requestId, client);
    else this.#turnAway(envelope, refusal, reply);
  }

  #measure(envelope: Envelope): Demand {
    const demand: Demand = {costs: [0, 0], methods: [...LANE_METHODS], packedBytes: 0, responseBytes: 0};
    for (const {error, idText, method, params} of envelope.calls) {
      if (error !== null || idText === null) continue;
      let resultBytes = 0;
      if (method === PROOF_METHOD || method === PROOF_AT_METHOD) {
        const cost = proofCost(params, this.#limits.storageKeys);
        if (cost === 0) continue;
        if (demand.costs[LaneId.PROOF] === 0) demand.methods[LaneId.PROOF] = method;
        demand.costs[LaneId.PROOF] += cost;
        demand.packedBytes += packedBytes(cost - 1);
        resultBytes = cost * this.#pool.maxProofTextBytes;
        if (method === PROOF_AT_METHOD) resultBytes += BLOCK_TEXT_BYTES;
      } else if (method === ESTIMATE_METHOD) {
        if (this.#estimates.kind === "none" || !Array.isArray(params)) continue;
        demand.costs[LaneId.ESTIMATE] += estimateCost(params);
        resultBytes = MAX_ESTIMATE_TEXT_BYTES;
      } else continue;
      demand.responseBytes += CALL_TEXT_BYTES + idText.length * MAX_BYTES_PER_CHARACTER + resultBytes;
    }
    return demand;
  }

  #refuse({costs, methods, responseBytes: got}: Demand, client: string): Refusal | null {
    const {requestCost, responseBytes} = this.#limits;
    const cost = costs[LaneId.PROOF] + costs[LaneId.ESTIMATE];
    const method = methods[costs[LaneId.PROOF] > 0 ? LaneId.PROOF : LaneId.ESTIMATE];
    if (cost > requestCost) {
      const unit = `units of cost (an account or storage key 1, an estimate ${ESTIMATE_COST} and 1 for each entry of its lists and overrides, 2 for each slot overridden)`;
      return {error: createLimitError("a request", requestCost, cost, unit), method, retryAfterSeconds: null};
    }
    if (got > responseBytes) {
      const error = createLimitError("a response", responseBytes, got, "bytes");
      return {error, method, retryAfterSeconds: null};
    }
    const busy = this.#dispatcher.refuse(costs, client);
    return busy === null ? null : {...busy, method: methods[busy.lane]};
  }

  /** One error for the whole request; nothing of it runs. */
  #turnAway(envelope: Envelope, refusal: Refusal, reply: Reply): void {
    const {error, method, retryAfterSeconds} = refusal;
    this.#tally.add(method, error.code, 1);
    const idText = envelope.isBatch ? "null" : ((envelope.calls[0] as Call).idText ?? "null");
    const text = encodeError(idText, error);
    if (retryAfterSeconds === null) sendText(reply, text);
    else reply.sendBusy(text, retryAfterSeconds);
  }

  #run(envelope: Envelope, demand: Demand, reply: Reply, requestId: string, client: string): void {
    const view: ServiceView = {
      head: this.#pool.chain.head(),
      suite: this.#pool.chain.suite,
      chainId: this.#pool.chain.chainId,
      findBlock: hash => this.#pool.chain.findBlock(hash),
      readBlock: block => this.#pool.chain.readBlock(block),
    };
    const packed = Buffer.allocUnsafe(demand.packedBytes);
    const slots: Slot[] = [];
    const ids: [string[], string[]] = [[], []];
    const ends: number[] = [];
    const estimates: PreparedEstimate[] = [];
    for (const call of envelope.calls) {
      const {idText, method} = call;
      // A notification asks for nothing, and no method here changes anything: it is not run.
      if (idText === null) continue;
      try {
        if (call.error !== null) throw call.error;
        let slot: Slot;
        if (method === PROOF_METHOD || method === PROOF_AT_METHOD) {
          const params = requireArray(call, PROOF_PARAMS);
          const form = method === PROOF_METHOD ? ProofForm.PLAIN : ProofForm.WITH_BLOCK;
          const start = ends.at(-1) ?? 0;
          ends.push(packProofCall(params, form, view, this.#limits.storageKeys, packed, start));
          slot = LaneId.PROOF;
        } else if (method === ESTIMATE_METHOD) {
          estimates.push(prepareEstimate(this.#estimates, call, view));
          slot = LaneId.ESTIMATE;
        } else {
          slot = `{"jsonrpc":"2.0","id":${idText},"result":${answerMethod(call, view)}}`;
          this.#tally.add(method, 0, 1);
        }
        if (typeof slot !== "string") ids[slot].push(idText);
        slots.push(slot);
      } catch (error) {
        const rpcError = this.#asRpcError(error, requestId);
        slots.push(encodeError(idText, rpcError));
        this.#tally.add(method, rpcError.code, 1);
      }
    }
    const {isBatch} = envelope;
    if (slots.length === 0) reply.send("204 No Content", [], "", false);
    else if (ends.length + estimates.length === 0) {
      sendText(reply, isBatch ? `[${slots.join(",")}]` : (slots[0] as string));
    } else {
      const origin = {id: requestId, isBatch, head: view.head, client};
      const calls = {slots, ids, packed, ends, estimates};
      this.#dispatcher.admit(new PendingRequest(origin, calls, reply, this.#limits.timeoutMs));
    }
  }

  #asRpcError(error: unknown, requestId: string): RpcError {
    if (error instanceof RpcError) return error;
    if (error instanceof RecordFailure) return this.#trouble.reportFailure(error.failure, requestId);
    return this.#trouble.reportThrown(error, requestId);
  }
}

function sendText(reply: Reply, text: string): void {
  reply.finish([new Piece(Buffer.from(text))]);
}
