/** Puts the parts of the server together: lanes, dispatcher, RpcService, HTTP, metrics. */
import type {Logger} from "pino";
import type {Engine} from "../workers/engine.ts";
import {Dispatcher} from "./dispatch/dispatcher.ts";
import {createEstimateLane, createGatewayLane, createProofLane} from "./dispatch/lanes/lanes.ts";
import type {Gateway} from "./gateway/gateway.ts";
import {type Address, Clients} from "./http/clientAddress.ts";
import {Connections} from "./http/connections.ts";
import {TrustedProxies} from "./http/forwardedFor.ts";
import {type HttpOptions, HttpServer} from "./http/httpServer.ts";
import {UnsentBytes} from "./http/unsentBytes.ts";
import {LANES} from "./methods/lanes.ts";
import type {Estimates} from "./methods/method.ts";
import {CCIP_METHODS, parseSlotsBody, proveSlots} from "./methods/proof/proveSlots.ts";
import {ProvableBlocks} from "./methods/provableBlocks.ts";
import {MethodTable} from "./methods/table.ts";
import {CallTally} from "./observe/callTally.ts";
import {Metrics} from "./observe/metrics.ts";
import {Readiness, type Statuses} from "./observe/readiness.ts";
import {RefusalLog} from "./observe/refusalLog.ts";
import {Scrapes} from "./observe/scrapes.ts";
import type {TroubleLog} from "./observe/troubleLog.ts";
import {LANE_IDS} from "./request/requestCalls.ts";
import {RpcService} from "./rpcService.ts";
import type {SlotFetcher} from "./slices/slotFetcher.ts";

export interface Front {
  readonly http: HttpServer;
  readonly dispatcher: Dispatcher;
  readonly metrics: Metrics;
}

export interface FrontOptions extends HttpOptions {
  /** Prefix of the methods for clients of a network's own server. undefined: there are none. */
  readonly namespace?: string | undefined;
  /** Methods that the gateway's node answers, besides those that it always does. */
  readonly gatewayMethods?: readonly string[];
  /** Answers HTTP 503 to requests for a block that is not here yet, so that a balancer asks another service. */
  readonly isBalanced?: boolean;
  /** Highest age of the newest finalized block, in seconds, at which the service counts as ready. */
  readonly maxFinalityLagSeconds?: number | undefined;
  /** Most open connections. Default: the system decides. */
  readonly maxConnections?: number;
}

interface MoreParts extends Statuses {
  /** undefined: no call is forwarded. */
  readonly gateway?: Gateway | undefined;
  readonly slots?: SlotFetcher | undefined;
}

/** Creates the front; it does not listen yet. @param engine, estimates, gateway - the caller closes them after the front */
export function createFront(
  options: FrontOptions,
  engine: Engine,
  estimates: Estimates,
  trouble: TroubleLog,
  log: Logger,
  {gateway, slots, ...statuses}: MoreParts = {},
): Front {
  const {limits, maxFinalityLagSeconds} = options;
  const readiness = new Readiness({
    chain: engine.chain,
    damage: trouble,
    threads: () => engine.readThreads(),
    ...statuses,
    maxFinalityLagSeconds,
  });
  const methods = new MethodTable(options.namespace, gateway && (options.gatewayMethods ?? []));
  const tally = new CallTally([...methods.names, proveSlots.name]);
  const unsent = new UnsentBytes(limits.unsentBytesTotal);
  const clients = new Clients();
  const {trustForwarded = [], maxConnections = Number.POSITIVE_INFINITY} = options;
  const proxies = trustForwarded.length === 0 ? undefined : new TrustedProxies(trustForwarded);
  const isProxy = (address: Address) => proxies?.isTrusted(address) === true;
  const connections = new Connections({limit: maxConnections, clients, isProxy, log});
  const lanes = [
    createProofLane(engine, slots),
    createEstimateLane(estimates),
    createGatewayLane(gateway),
  ] as const;
  const refusals = new RefusalLog(log);
  const dispatcher = new Dispatcher(lanes, limits, tally, trouble, refusals);
  const metrics = new Metrics({
    engine,
    tally,
    trouble,
    unsent,
    connections,
    readQueuedCosts: () => LANE_IDS.map(lane => [LANES[lane].name, dispatcher.queuedCost(lane)]),
    estimates: dispatcher,
    refusals,
    readiness,
    ...statuses,
    slotFetches: slots?.counts,
  });
  const {maxProofTextBytes} = engine;
  const setup = {chain: engine.chain, limits, estimates, gateway, maxProofTextBytes};
  const rpc = new RpcService(setup, methods, dispatcher, tally, trouble, options.isBalanced);
  const ccip = new RpcService(setup, CCIP_METHODS, dispatcher, tally, trouble, false, parseSlotsBody);
  const http = new HttpServer(options, {
    ...{rpc, ccip},
    blocks: new ProvableBlocks(engine.chain),
    unsent,
    clients,
    proxies,
    connections,
    metrics,
    scrapes: new Scrapes(() => metrics.read()),
    log,
    readiness,
  });
  return {http, dispatcher, metrics};
}
