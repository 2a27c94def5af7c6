/**
 * From a body to its answer: the envelope, the limits that hold before any work, the calls that need no worker, and the
 * hand-over of the others to the dispatcher. One head for the whole HTTP request is taken here.
 */
import type {ProofPool} from "../workers/pool.ts";
import type {Dispatcher} from "./dispatch/dispatcher.ts";
import {ProofRequest} from "./dispatch/proofRequest.ts";
import {PROOF_SLOT} from "./dispatch/segment.ts";
import type {Reply} from "./http/reply.ts";
import {CALL_TEXT_BYTES, type Limits} from "./limits.ts";
import type {CallTally} from "./observe/callTally.ts";
import type {TroubleLog} from "./observe/troubleLog.ts";
import {type Call, type Envelope, parseEnvelope} from "./rpc/envelope.ts";
import {
  answerMethod,
  PROOF_METHOD,
  RecordFailure,
  requireProofParams,
  type ServiceView,
} from "./rpc/methods.ts";
import {packedBytes, packProofCall, proofCost} from "./rpc/proofParams.ts";
import {createLimitError, encodeError, RpcError} from "./rpc/rpcError.ts";

/** A JSON string's character takes at most 3 bytes of UTF-8 (a pair of surrogates 4). */
const MAX_BYTES_PER_CHARACTER = 3;

/** What one request asks of the workers, told from its shape alone. */
interface Demand {
  cost: number;
  packedBytes: number;
  responseBytes: number;
}

export class Service {
  readonly #pool: ProofPool;
  readonly #limits: Limits;
  readonly #dispatcher: Dispatcher;
  readonly #tally: CallTally;
  readonly #trouble: TroubleLog;

  constructor(
    pool: ProofPool,
    limits: Limits,
    dispatcher: Dispatcher,
    tally: CallTally,
    trouble: TroubleLog,
  ) {
    this.#pool = pool;
    this.#limits = limits;
    this.#dispatcher = dispatcher;
    this.#tally = tally;
    this.#trouble = trouble;
  }

  /**
   * Answers one HTTP request, at once or when the workers have.
   *
   * @param body - only read during this call
   * @returns null, or the response object with which the request is turned away because the queue is full (HTTP 503)
   */
  answer(body: Buffer, reply: Reply, requestId: string): string | null {
    let envelope: Envelope;
    try {
      envelope = parseEnvelope(body, this.#limits.batchCalls);
    } catch (error) {
      const rpcError = this.#asRpcError(error, requestId);
      this.#tally.add("", rpcError.code, 1);
      sendText(reply, encodeError("null", rpcError));
      return null;
    }
    const demand = this.#measure(envelope);
    const refusal = this.#refuse(demand);
    if (refusal !== null) return this.#turnAway(envelope, refusal.error, refusal.isQueueFull, reply);
    this.#run(envelope, demand, reply, requestId);
    return null;
  }

  #measure(envelope: Envelope): Demand {
    const demand: Demand = {cost: 0, packedBytes: 0, responseBytes: 0};
    for (const call of envelope.calls) {
      if (call.error !== null || call.idText === null || call.method !== PROOF_METHOD) continue;
      const cost = proofCost(call.params, this.#limits.storageKeys);
      if (cost === 0) continue;
      demand.cost += cost;
      demand.packedBytes += packedBytes(cost - 1);
      demand.responseBytes +=
        CALL_TEXT_BYTES + call.idText.length * MAX_BYTES_PER_CHARACTER + cost * this.#pool.maxProofTextBytes;
    }
    return demand;
  }

  #refuse(demand: Demand): {error: RpcError; isQueueFull: boolean} | null {
    const {requestCost, responseBytes} = this.#limits;
    if (demand.cost > requestCost) {
      const error = createLimitError("a request", requestCost, demand.cost, "accounts and storage keys");
      return {error, isQueueFull: false};
    }
    if (demand.responseBytes > responseBytes) {
      const error = createLimitError("a response", responseBytes, demand.responseBytes, "bytes");
      return {error, isQueueFull: false};
    }
    const error = demand.cost > 0 ? this.#dispatcher.refuse(demand.cost) : null;
    return error === null ? null : {error, isQueueFull: true};
  }

  /** One error for the whole request; nothing of it runs. */
  #turnAway(envelope: Envelope, error: RpcError, isQueueFull: boolean, reply: Reply): string | null {
    this.#tally.add(PROOF_METHOD, error.code, 1);
    const idText = envelope.isBatch ? "null" : ((envelope.calls[0] as Call).idText ?? "null");
    const text = encodeError(idText, error);
    if (isQueueFull) return text;
    sendText(reply, text);
    return null;
  }

  #run(envelope: Envelope, demand: Demand, reply: Reply, requestId: string): void {
    const view: ServiceView = {
      head: this.#pool.head(),
      suite: this.#pool.suite,
      chainId: this.#pool.chainId,
      findBlock: hash => this.#pool.findBlock(hash),
      readBlock: block => this.#pool.readBlock(block),
    };
    const packed = Buffer.allocUnsafe(demand.packedBytes);
    const slots: (string | typeof PROOF_SLOT)[] = [];
    const ids: string[] = [];
    const ends: number[] = [];
    for (const call of envelope.calls) {
      // A notification asks for nothing, and no method here changes anything: it is not run.
      if (call.idText === null) continue;
      try {
        if (call.error !== null) throw call.error;
        if (call.method === PROOF_METHOD) {
          const params = requireProofParams(call);
          ends.push(packProofCall(params, view, this.#limits.storageKeys, packed, ends.at(-1) ?? 0));
          ids.push(call.idText);
          slots.push(PROOF_SLOT);
        } else {
          const result = answerMethod(call, view);
          slots.push(`{"jsonrpc":"2.0","id":${call.idText},"result":${result}}`);
          this.#tally.add(call.method, 0, 1);
        }
      } catch (error) {
        const rpcError = this.#asRpcError(error, requestId);
        slots.push(encodeError(call.idText, rpcError));
        this.#tally.add(call.method, rpcError.code, 1);
      }
    }
    if (slots.length === 0) reply.send("204 No Content", [], "", false);
    else if (ids.length === 0)
      sendText(reply, envelope.isBatch ? `[${slots.join(",")}]` : (slots[0] as string));
    else {
      const calls = {slots, ids, packed, ends};
      const {timeoutMs} = this.#limits;
      const {isBatch} = envelope;
      const {head} = view;
      const request = new ProofRequest(requestId, calls, isBatch, head, reply, performance.now(), timeoutMs);
      this.#dispatcher.admit(request);
    }
  }

  #asRpcError(error: unknown, requestId: string): RpcError {
    if (error instanceof RpcError) return error;
    if (error instanceof RecordFailure) return this.#trouble.reportFailure(error.failure, requestId);
    return this.#trouble.reportThrown(error, requestId);
  }
}

function sendText(reply: Reply, text: string): void {
  reply.push([Buffer.from(text)]);
  reply.finish();
}
