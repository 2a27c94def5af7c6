/** Pool and HTTP front in the test's own process, with the settings for gas estimates that the test names. */
import {pino} from "pino";
import {createFront, type Front} from "../../../server/front.ts";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {DEFAULT_ESTIMATE_SETTINGS, type EstimateSettings} from "../../../workers/job/estimateSettings.ts";
import {ProofPool} from "../../../workers/pool/pool.ts";
import type {RpcAnswer} from "../http/rpcAnswer.ts";
import "../processes/testProcess.ts";

/** The defaults, but with a long time limit, so that no test fails on a busy machine. */
const SETTINGS: EstimateSettings = {...DEFAULT_ESTIMATE_SETTINGS, timeMs: 600_000};
const LIMITS = {...DEFAULT_LIMITS, timeoutMs: 3_600_000};

export class EstimateService {
  private readonly pool: ProofPool;
  private readonly front: Front;
  private readonly url: string;

  private constructor(pool: ProofPool, front: Front, url: string) {
    this.pool = pool;
    this.front = front;
    this.url = url;
  }

  /** @param directory - of a store that exists */
  static async start(directory: string, settings: Partial<EstimateSettings> = {}): Promise<EstimateService> {
    const used = {...SETTINGS, ...settings};
    const log = pino({level: "error"});
    const trouble = new TroubleLog(log);
    const pool = await ProofPool.open({
      directory,
      workers: 1,
      cacheBytes: 16 << 20,
      createIfMissing: false,
      estimates: {workers: 1, settings: used},
      onWorkerExit: error => trouble.reportWorkerExit(error),
    });
    const options = {host: "127.0.0.1", port: 0, limits: LIMITS, logsRequests: false};
    const estimate = pool.estimate.bind(pool);
    const {gasCap, timeMs} = used;
    const here = {kind: "here", gasCap, timeMs, workers: 1, estimate} as const;
    const front = createFront(options, pool, here, trouble, log);
    return new EstimateService(pool, front, `http://127.0.0.1:${await front.http.listen()}`);
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
    await this.pool.close();
  }
}
