/** HTTP front in the test's own process, with the settings for gas estimates that the test names. */
import {pino} from "pino";
import {createFront, type Front} from "../../../server/front.ts";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {Engine} from "../../../workers/engine.ts";
import type {EstimateAnswers, EstimateJob} from "../../../workers/messages/estimateJob.ts";
import {
  DEFAULT_ESTIMATE_SETTINGS,
  type EstimateSettings,
} from "../../../workers/messages/estimateSettings.ts";
import type {RpcAnswer} from "../http/rpcAnswer.ts";
import type {SharedEstimates} from "./sharedEstimates.ts";
import "../processes/testProcess.ts";

/** The defaults, but with a long time limit, so that no test fails on a busy machine. */
const SETTINGS: EstimateSettings = {...DEFAULT_ESTIMATE_SETTINGS, timeMs: 600_000};
const LIMITS = {...DEFAULT_LIMITS, timeoutMs: 3_600_000};

const CACHE_BYTES = 16 << 20;

export class EstimateService {
  private readonly engine: Engine;
  private readonly front: Front;
  private readonly url: string;

  private constructor(engine: Engine, front: Front, port: number) {
    this.engine = engine;
    this.front = front;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** With an engine of estimate threads. @param directory - of a store that exists */
  static async start(directory: string, settings: Partial<EstimateSettings> = {}): Promise<EstimateService> {
    const used = {...SETTINGS, ...settings};
    const trouble = createTroubleLog();
    const engine = await Engine.open({
      directory,
      workers: 0,
      cacheBytes: CACHE_BYTES,
      createIfMissing: false,
      estimates: {workers: 1, settings: used},
      onWorkerExit: error => trouble.reportWorkerExit(error),
    });
    const front = openFront(engine, used, job => engine.estimate(job), trouble);
    return new EstimateService(engine, front, await front.http.listen());
  }

  /** @param shared - makes the estimates; the caller closes it after the service */
  static async on(
    shared: SharedEstimates,
    settings: Partial<EstimateSettings> = {},
  ): Promise<EstimateService> {
    const used = {...SETTINGS, ...settings};
    const options = {directory: shared.directory, cacheBytes: CACHE_BYTES, createIfMissing: false};
    const engine = await Engine.open({...options, workers: 0, readOnly: true});
    const front = openFront(engine, used, job => shared.estimate(job, used), createTroubleLog());
    return new EstimateService(engine, front, await front.http.listen());
  }

  async call(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    const response = await fetch(this.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
    });
    return (await response.json()) as RpcAnswer;
  }

  async stop(): Promise<void> {
    this.front.http.close();
    this.front.dispatcher.close();
    await this.engine.close();
  }
}

function createTroubleLog(): TroubleLog {
  return new TroubleLog(pino({level: "error"}));
}

function openFront(
  engine: Engine,
  {gasCap, timeMs}: EstimateSettings,
  estimate: (job: EstimateJob) => Promise<EstimateAnswers>,
  trouble: TroubleLog,
): Front {
  const options = {host: "127.0.0.1", port: 0, limits: LIMITS};
  const here = {kind: "here", gasCap, timeMs, workers: 1, estimate} as const;
  return createFront(options, engine, here, trouble, pino({level: "error"}));
}
