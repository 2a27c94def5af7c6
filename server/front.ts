/** Puts the serving side together: pool -> dispatcher -> service -> HTTP, and the metrics that look at all of them. */
import type {Logger} from "pino";
import type {ProofPool} from "../workers/pool.ts";
import {Dispatcher} from "./dispatch/dispatcher.ts";
import {HeldBytes} from "./http/heldBytes.ts";
import {type HttpOptions, HttpServer} from "./http/httpServer.ts";
import {CallTally} from "./observe/callTally.ts";
import {Metrics} from "./observe/metrics.ts";
import type {TroubleLog} from "./observe/troubleLog.ts";
import {METHOD_NAMES} from "./rpc/methods.ts";
import {Service} from "./service.ts";

export interface Front {
  readonly http: HttpServer;
  readonly dispatcher: Dispatcher;
  readonly metrics: Metrics;
}

/** Nothing listens yet. @param pool - stays the caller's, and is closed after the front */
export function createFront(options: HttpOptions, pool: ProofPool, trouble: TroubleLog, log: Logger): Front {
  const {limits} = options;
  const tally = new CallTally(METHOD_NAMES);
  const held = new HeldBytes(limits.heldBytesTotal);
  const dispatcher = new Dispatcher(pool, limits, tally, trouble);
  const metrics = new Metrics({
    tally,
    trouble,
    held,
    readQueuedCost: () => dispatcher.queuedCost,
    readHead: () => pool.head(),
  });
  const service = new Service(pool, limits, dispatcher, tally, trouble);
  const http = new HttpServer(options, {
    service,
    held,
    metrics,
    log,
    readCoverage: () => ({isEmpty: pool.head().latest === null, isProvable: pool.head().finalized !== null}),
  });
  return {http, dispatcher, metrics};
}
