/** Faults of this service: counted, and logged with the request id that the caller's error -32603 has. */
import type {Logger} from "pino";
import {type Failure, failureOf} from "../../workers/messages/failure.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export class TroubleLog {
  damagedRecords = 0;
  workerExits = 0;
  tableFindings = 0;
  /** The disk refused a write, and the store has not been opened again since. */
  writesStopped = false;

  constructor(private readonly log: Logger) {}

  reportWorkerExit(error: Error): void {
    this.workerExits++;
    this.log.error({err: error}, "a worker thread was lost and is replaced");
  }

  /** @param stopped - why nothing is written; undefined: the disk takes writes again */
  reportWriting(stopped: string | undefined): void {
    this.writesStopped = stopped !== undefined;
    if (stopped === undefined) this.log.info("the disk takes writes again");
    else this.log.error({reason: stopped}, "the disk refused a write; stored blocks are still served");
  }

  /** `--check-store` found damage in a table. LevelDB may end the process when it reads there. */
  reportTable(where: string, what: string): void {
    this.tableFindings++;
    this.log.error({where, what}, "a table is damaged: run proofd check, and replace the store");
  }

  /** A task was rejected: its worker died or its message did not get through. */
  reportTask(error: unknown, requestIds: readonly string[]): void {
    this.log.error({err: error, requestIds}, "a task failed, its calls are answered with -32603");
  }

  /** A call failed in a worker or while a block's record was read. @param failure - undefined if the worker gave no reason */
  reportFailure(failure: Failure | undefined, requestId: string): RpcError {
    if (failure?.failure === "DAMAGED") this.damagedRecords++;
    this.log.error({requestId, failure: failure?.failure, detail: failure?.detail}, "a call failed");
    return this.createInternalError(requestId);
  }

  /** Any other error was thrown while a call was answered. */
  reportThrown(error: unknown, requestId: string): RpcError {
    if (failureOf(error).failure === "DAMAGED") this.damagedRecords++;
    this.log.error({err: error, requestId}, "a call failed");
    return this.createInternalError(requestId);
  }

  createInternalError(requestId: string): RpcError {
    return new RpcError(RpcCode.INTERNAL_ERROR, "internal error: the log names the cause", {requestId});
  }
}
