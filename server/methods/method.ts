/**
 * What a method is. Each has a file of its own and a line in table.ts, which is all that the service knows of it:
 *
 *   lane null      cost(params) -> limits ------------> answer(params) ---> the result's text, at once on the main thread
 *   a lane         cost(params) -> limits and queues -> prepare(params) --> a call for the lane (dispatch/lanes/)
 */
import type {Failure} from "../../workers/job/failure.ts";
import type {Head} from "../../workers/job/head.ts";
import type {ChainView} from "../../workers/pool/chainView.ts";
import type {LaneCalls, LaneId} from "../answer/requestCalls.ts";
import type {Limits} from "../limits.ts";
import type {Call} from "../rpc/envelope.ts";
import type {RpcCode} from "../rpc/rpcError.ts";
import type {Estimates} from "./estimates.ts";
import type {ParamList} from "./params.ts";
import type {Schema} from "./schema.ts";

/** What a call is answered from: one head for the whole HTTP request, and what this process was started with. */
export interface RequestView {
  readonly head: Head;
  readonly chain: ChainView;
  readonly limits: Limits;
  readonly estimates: Estimates;
  /** Upper bound of a proof's text per account or storage key asked for, in bytes. */
  readonly maxProofTextBytes: number;
}

interface Described {
  readonly name: string;
  /** One sentence, for rpc.discover. */
  readonly summary: string;
  readonly params: ParamList;
  readonly result: {readonly name: string; readonly schema: Schema};
  /** Besides those that every method has (openRpc.ts). */
  readonly errors: readonly RpcCode[];
  /**
   * What the call counts of the request's limit, told from the parameters' shape before anything is parsed. A call that costs
   * nothing is held to no limit: it is answered with next to no work, or `prepare` will refuse it.
   */
  cost(params: Call["params"], view: RequestView): number;
}

/** Answered on the main thread, from the head and a block's record. */
export interface ReadyMethod extends Described {
  readonly lane: null;
  /** @returns the result as JSON text. @throws RpcError, or anything else where it is our fault */
  answer(params: Call["params"], view: RequestView): string;
}

/** Answered by a lane, whose calls of one request are `Calls` (lanes.ts). */
export interface LaneMethod<Calls extends LaneCalls = LaneCalls> extends Described {
  readonly lane: LaneId;
  /** Upper bound of the result's or error's text, in bytes. @param cost - of the call, above 0 */
  maxTextBytes(cost: number, view: RequestView): number;
  /**
   * Checks the parameters and adds the call to `calls`, all but its id.
   *
   * @throws RpcError, with nothing added
   */
  prepare(params: Call["params"], view: RequestView, calls: Calls): void;
}

export type Method = ReadyMethod | LaneMethod;

/** Thrown for a record that is damaged; `failure` says what of it. */
export class RecordFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.name = "RecordFailure";
    this.failure = failure;
  }
}
