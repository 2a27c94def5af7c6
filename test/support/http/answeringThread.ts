/**
 * Everything that answers a body, in the test's own process: the service with its lanes, an engine of one thread of each kind, a
 * gateway and its upstream. Measures how long a body keeps the main thread busy.
 */

import {setImmediate as turn} from "node:timers/promises";
import {pino} from "pino";
import {Dispatcher} from "../../../server/dispatch/dispatcher.ts";
import {createEstimateLane} from "../../../server/dispatch/lanes/estimateLane.ts";
import {createProofLane} from "../../../server/dispatch/lanes/proofLane.ts";
import {Gateway} from "../../../server/gateway/gateway.ts";
import {Reply} from "../../../server/http/reply.ts";
import {Turns} from "../../../server/http/turns.ts";
import {UnsentBytes} from "../../../server/http/unsentBytes.ts";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import type {HttpResponse} from "../../../server/listener/exchange.ts";
import type {Estimates} from "../../../server/methods/estimates.ts";
import {MethodTable} from "../../../server/methods/table.ts";
import {CallTally} from "../../../server/observe/callTally.ts";
import {RefusalLog} from "../../../server/observe/refusalLog.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {RequestRecord} from "../../../server/rpc/requestRecord.ts";
import {RpcService} from "../../../server/rpcService.ts";
import {Engine} from "../../../workers/engine.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../../workers/messages/estimateSettings.ts";
import {ThreadClock} from "../../../workers/threads/threadClock.ts";
import {WorkFolder} from "../chains/serviceChain.ts";
import type {BodyKind} from "./bodyKinds.ts";
import {Upstream} from "./upstream.ts";

const SETTINGS = {...DEFAULT_ESTIMATE_SETTINGS, hardfork: "prague"};
/** Nothing is turned away. Dropped requests may still be with the threads when the next one comes. */
const LIMITS = {...DEFAULT_LIMITS, queueCost: 1e9};

/** Keeps an answer's first bytes. It reads everything at once, and leaves when it is told to. */
class Reader {
  text = "";
  leave: () => void = () => {};
  private end: () => void = () => {};
  /** Fulfilled when the whole answer is written. */
  readonly ended = new Promise<void>(resolve => {
    this.end = resolve;
  });

  createResponse(): HttpResponse {
    const take = (bytes: string | ArrayBuffer | Uint8Array | undefined): void => {
      if (bytes === undefined || this.text.length > 300) return;
      this.text +=
        typeof bytes === "string" ? bytes : Buffer.from(bytes as Uint8Array).toString("utf8", 0, 300);
    };
    const response = {
      onAborted: (handler: () => void) => {
        this.leave = handler;
        return response;
      },
      onWritable: () => response,
      cork: (write: () => void) => {
        write();
        return response;
      },
      writeStatus: () => response,
      writeHeader: () => response,
      getRemoteAddress: () => new Uint8Array([127, 0, 0, 1]).buffer,
      getWriteOffset: () => 0,
      write: (bytes: Uint8Array) => {
        take(bytes);
        return true;
      },
      tryEnd: (bytes: Uint8Array) => {
        take(bytes);
        this.end();
        return [true, true];
      },
      end: (bytes?: string) => {
        take(bytes);
        this.end();
        return response;
      },
      endWithoutBody: () => response,
    };
    return response as unknown as HttpResponse;
  }
}

export class AnsweringThread {
  private readonly clock = new ThreadClock();
  /** Idle threads and sockets do not keep the event loop. Without this, Node 22 may end the process while they are closed. */
  private readonly alive = setInterval(() => {}, 1000);
  private readonly folder: WorkFolder;
  private readonly engine: Engine;
  private readonly upstream: Upstream;
  private readonly gateway: Gateway;
  private readonly dispatchers: Dispatcher[] = [];
  private readonly here: RpcService;
  private readonly forwarding: RpcService;

  private constructor(folder: WorkFolder, engine: Engine, upstream: Upstream) {
    this.folder = folder;
    this.engine = engine;
    this.upstream = upstream;
    this.gateway = new Gateway(upstream.url, pino({level: "silent"}));
    const estimate = engine.estimate.bind(engine);
    const {gasCap, timeMs} = SETTINGS;
    this.here = this.createService({kind: "here", gasCap, timeMs, workers: 1, estimate});
    this.forwarding = this.createService({kind: "gateway", gateway: this.gateway});
  }

  static async start(): Promise<AnsweringThread> {
    const folder = await WorkFolder.create();
    const directory = await folder.importChain("db", 2, 2);
    const estimates = {workers: 1, settings: SETTINGS};
    const options = {directory, workers: 1, cacheBytes: 1 << 24, createIfMissing: false, estimates};
    const upstream = new Upstream();
    await upstream.start();
    return new AnsweringThread(folder, await Engine.open(options), upstream);
  }

  /**
   * Measures from the whole body to the moment when its calls are answered or with their threads. The reader does not wait for
   * the threads.
   *
   * @returns milliseconds of processor time of this thread (of the process where the system does not tell them apart),
   * and the answer's first bytes
   */
  async answer({body, isForGateway}: BodyKind): Promise<{cpuMs: number; text: string}> {
    const service = isForGateway === true ? this.forwarding : this.here;
    const bytes = Buffer.from(body);
    const reader = new Reader();
    const reply = new Reply(reader.createResponse(), new UnsentBytes(LIMITS.unsentBytesTotal), new Turns());
    const startMs = this.readMs();
    service.answer(bytes, reply, new RequestRecord("test"));
    // At the end of a turn, lanes start the calls that came in it.
    await turn();
    await turn();
    const cpuMs = this.readMs() - startMs;
    // The upstream is on this thread too. It must not disturb the next measurement.
    if (isForGateway === true) await reader.ended;
    reader.leave();
    return {cpuMs, text: reader.text};
  }

  async stop(): Promise<void> {
    for (const dispatcher of this.dispatchers) dispatcher.close();
    await this.gateway.close();
    await this.upstream.stop();
    await this.engine.close();
    await this.folder.remove();
    clearInterval(this.alive);
  }

  /** Linux updates a running thread's time at its timer ticks, and when the whole process's time is read. */
  private readMs(): number {
    const {user, system} = process.cpuUsage();
    return this.clock.readMs() ?? (user + system) / 1000;
  }

  private createService(estimates: Estimates): RpcService {
    const log = pino({level: "silent"});
    const trouble = new TroubleLog(log);
    const tally = new CallTally(new MethodTable().names);
    const lanes = [createProofLane(this.engine), createEstimateLane(estimates)] as const;
    const observers = {tally, trouble, refusals: new RefusalLog(log)};
    const dispatcher = new Dispatcher(lanes, LIMITS, observers);
    this.dispatchers.push(dispatcher);
    const {maxProofTextBytes} = this.engine;
    const setup = {chain: this.engine.chain, limits: LIMITS, estimates, maxProofTextBytes};
    return new RpcService(setup, new MethodTable(), dispatcher, tally, trouble);
  }
}
