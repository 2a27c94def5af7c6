/**
 * The interface of methods. Each method has a file of its own and a line in table.ts.
 *
 *   no lane        cost(params) -> limits ------------> answer(params) ---> the result's text, on the main thread
 *   a lane         cost(params) -> limits and queues -> prepare(params) --> a call for the lane (dispatch/lanes/)
 */

import type {ChainView} from "../../workers/chain/chainView.ts";
import type {Settlement} from "../../workers/messages/answers.ts";
import {CallFailure, type Failure} from "../../workers/messages/failure.ts";
import type {Head} from "../../workers/messages/head.ts";
import type {PackedJob} from "../../workers/messages/jobMailbox.ts";
import type {Work} from "../fairness/work.ts";
import type {Gateway} from "../gateway/gateway.ts";
import type {Limits} from "../limits.ts";
import type {LaneCalls, LaneId} from "../request/requestCalls.ts";
import type {TaskAnswers} from "../request/taskText.ts";
import type {Call} from "../rpc/envelope.ts";
import {createFailureError} from "../rpc/failure.ts";
import {encodeQuantity} from "../rpc/quantity.ts";
import {createBlockUnknownError, type RpcCode} from "../rpc/rpcError.ts";
import type {ParamList} from "./params.ts";
import type {Schema} from "./schema.ts";

/** What a call is answered from: one head for the whole HTTP request, and the settings of this process. */
export interface RequestView {
  readonly head: Head;
  readonly chain: ChainView;
  readonly limits: Limits;
  readonly estimates: Estimates;
  /** undefined: no call is forwarded. */
  readonly gateway: Gateway | undefined;
  /** A block that another instance may have is an AheadError (--balanced). */
  readonly isBalanced: boolean;
  /** The client takes an answer as bytes, and the request is a single call. */
  readonly takesBytes: boolean;
  /** Upper bound of a proof's text per account or storage key asked for, in bytes. */
  readonly maxProofTextBytes: number;
}

interface Described extends Named {
  /** One sentence, for rpc.discover. */
  readonly summary: string;
  readonly params: ParamList;
  readonly result: {readonly name: string; readonly schema: Schema};
  /** Errors of this method, in addition to those of every method (discover.ts). */
  readonly errors: readonly RpcCode[];
  /** @returns the same method of the gateway's node, for a call that only that node can answer */
  readonly forwardedTo?: (params: Call["params"], view: RequestView) => ForwardedMethod | undefined;
}

interface Named {
  readonly name: string;
  /**
   * What the call adds to the cost of its request, by the shape of the parameters, before they are parsed. A call of
   * cost 0 is not limited: it needs almost no work, or `prepare` refuses it.
   */
  cost(params: Call["params"], view: RequestView): number;
}

/** A method that the main thread answers, from the head and a block's record. */
export interface ReadyMethod extends Described {
  readonly lane: undefined;
  /** @returns the result as JSON text. @throws RpcError. Any other error is a fault of this service */
  answer(params: Call["params"], view: RequestView): string;
}

/** A method that a lane answers. `Calls` holds the lane's calls of one request (lanes.ts). */
export interface LaneMethod<Calls extends LaneCalls = LaneCalls> extends Described, InLane<Calls> {}

interface InLane<Calls extends LaneCalls> {
  readonly lane: LaneId;
  /** Upper bound of the text of a result or error, in bytes. @param cost - of the call, above 0 */
  maxTextBytes(cost: number, view: RequestView, params: Call["params"]): number;
  /** Adds the call to `calls`, without its id. @returns work that does so if it may take long. @throws RpcError */
  prepare(params: Call["params"], view: RequestView, calls: Calls): Work | undefined;
}

/** A method of the gateway's node. Only the node knows its parameters and results. */
export interface ForwardedMethod<Calls extends LaneCalls = LaneCalls> extends Named, InLane<Calls> {
  readonly forwardedTo?: undefined;
}

/** A method that proofd answers itself. */
export type OwnMethod = ReadyMethod | LaneMethod;
export type Method = OwnMethod | ForwardedMethod;

export function createReadError(failure: Failure, block: number, head: Head): Error {
  if (failure.failure === "BLOCK_UNKNOWN") return createBlockUnknownError(encodeQuantity(block), head);
  return createFailureError(failure, head) ?? new CallFailure(failure);
}

/** Who makes the gas estimates and runs calls: threads of this process, or nobody. */
export type Estimates =
  | {
      readonly kind: "here";
      /** Number of threads for calls with a slice. */
      readonly workers: number;
      readonly timeMs: number;
      readonly estimate: (job: PackedJob, onAnswered: (settlement: Settlement<TaskAnswers>) => void) => void;
    }
  | {readonly kind: "none"};
