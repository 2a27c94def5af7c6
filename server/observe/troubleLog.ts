/**
 * Our own faults: counted, logged in full, answered as -32603 with nothing but a request id that leads to the log line.
 */
import type {Logger} from "pino";
import type {Failure} from "../../workers/job/failure.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export class TroubleLog {
  damagedRecords = 0;
  workerExits = 0;
  /** By `serve --verify`: what is wrong in tables. */
  tableFindings = 0;
  private readonly log: Logger;

  constructor(log: Logger) {
    this.log = log;
  }

  /** A worker died; the pool replaces it. */
  reportWorkerExit(error: Error): void {
    this.workerExits++;
    this.log.error({err: error}, "a worker died and is replaced");
  }

  /** The pass over the tables found damage: reading there may end the process. */
  reportTable(where: string, what: string): void {
    this.tableFindings++;
    this.log.error({where, what}, "a table is damaged: run proofd check, and replace the store");
  }

  /** A task was rejected: its worker died or its message did not get through. */
  reportTask(error: unknown, requestIds: readonly string[]): void {
    this.log.error({err: error, requestIds}, "a task failed, its calls are answered with -32603");
  }

  /** A call failed in a worker or while reading a block's record; undefined: without a word about why. */
  reportFailure(failure: Failure | undefined, requestId: string): RpcError {
    if (failure?.failure === "DAMAGED") this.damagedRecords++;
    this.log.error({requestId, failure: failure?.failure, detail: failure?.detail}, "a call failed");
    return this.createInternalError(requestId);
  }

  /** Anything else that was thrown while answering a call. Damage found by the store comes with its code. */
  reportThrown(error: unknown, requestId: string): RpcError {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    if (code === "RECORD_DAMAGED" || code === "RECORD_MISSING" || code === "STORE_DAMAGED")
      this.damagedRecords++;
    this.log.error({err: error, requestId}, "a call failed");
    return this.createInternalError(requestId);
  }

  createInternalError(requestId: string): RpcError {
    return new RpcError(RpcCode.INTERNAL_ERROR, "internal error: the log names the cause", {requestId});
  }
}
