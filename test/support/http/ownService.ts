/** `proofd serve` in the test's own process: for tests that need no signal, exit code or crash. */
import {execFileSync} from "node:child_process";
import {closeSync, constants, createWriteStream, openSync, type WriteStream} from "node:fs";
import {PassThrough} from "node:stream";
import {pino} from "pino";
import type {Part} from "../../../server/lifecycle/parts.ts";
import {type RunningService, startService} from "../../../server/lifecycle/runningService.ts";
import type {ServiceOptions} from "../../../server/lifecycle/serviceOptions.ts";
import {DEFAULT_LIMITS, type Limits} from "../../../server/limits.ts";
import type {Engine} from "../../../workers/engine.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../../workers/messages/estimateSettings.ts";
import {within} from "../wait.ts";
import {AskedService, serveFlags} from "./askedService.ts";
import {testedHttp} from "./testedHttp.ts";
import {readTuned, type Tuning} from "./tunedOptions.ts";

/** Longer than of a process after a signal: on a busy machine, a thread may wait seconds for a processor. */
const STOP_MS = 100_000;
/** Time between two looks if the service shows no change. */
const RARE_LOOK_MS = 100;

interface ServedOptions extends Tuning {
  readonly estimates?: boolean;
}

export class OwnService extends AskedService {
  /** What it has logged. */
  stderr = "";
  /** What a service of `fed` imports from. */
  input!: WriteStream;
  private readonly logged: PassThrough;
  private readonly service: RunningService;

  private constructor(service: RunningService, logged: PassThrough) {
    super();
    this.service = service;
    this.logged = logged;
    logged.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
  }

  /** Starts a service on a free port, with these flags of `proofd serve`, and without estimates unless asked for. */
  static async serve(
    args: readonly string[],
    {estimates = false, ...tuning}: ServedOptions = {},
  ): Promise<OwnService> {
    const {options, logLevel} = await readTuned(serveFlags(args, estimates), tuning);
    const logged = new PassThrough();
    const log = pino({name: "proofd", level: logLevel}, logged);
    return new OwnService(await startService(options, {log}), logged);
  }

  /** Like `serve`, with `--diffs` of a named pipe beside the store. What the test writes to `input` comes out of it. */
  static async fed(
    db: string,
    flags: readonly string[] = [],
    options: ServedOptions = {},
  ): Promise<OwnService> {
    const pipe = `${db}.fifo`;
    execFileSync("mkfifo", [pipe]);
    const service = await OwnService.serve(
      ["--db", db, "--allow-unverified", "--diffs", pipe, ...flags],
      options,
    );
    service.input = createWriteStream(pipe).on("error", () => {}); // the service may stop before it has read all
    return service;
  }

  /** Starts a service on a free port, with one proof thread and no estimates unless `options` says otherwise. */
  static async start(
    options: Partial<Omit<ServiceOptions, "limits">> &
      Pick<ServiceOptions, "db"> & {readonly limits?: Partial<Limits>},
    moreParts: readonly Part[] = [],
  ): Promise<OwnService> {
    const estimate = {settings: DEFAULT_ESTIMATE_SETTINGS, workers: 0};
    const service = await startService(
      {
        host: "127.0.0.1",
        port: 0,
        http: testedHttp(),
        workers: 1,
        cacheBytes: 16 << 20,
        history: {kind: "all"},
        sliceFetches: 20,
        cors: [],
        allowedHosts: [],
        estimate,
        ...options,
        limits: {...DEFAULT_LIMITS, ...options.limits},
      },
      {log: pino({level: "silent"}), moreParts},
    );
    return new OwnService(service, new PassThrough());
  }

  get url(): string {
    return this.announcement.url;
  }

  protected override get operatorsUrl(): string {
    const {metrics} = this.announcement;
    return metrics === undefined ? this.url : new URL(metrics).origin;
  }

  /** What `proofd serve` prints when it listens. */
  get announcement(): RunningService["announcement"] {
    return this.service.announcement;
  }

  get engine(): Engine {
    return this.service.engine;
  }

  /** When the chain changes or a line is logged. Most of what is waited for comes with one of them. */
  protected override changed(): Promise<void> {
    return new Promise(resolve => {
      const end = (): void => {
        clearTimeout(timer);
        unwatch();
        this.logged.off("data", end);
        resolve();
      };
      const timer = setTimeout(end, RARE_LOOK_MS);
      const unwatch = this.engine.chain.onChange(end);
      this.logged.once("data", end);
    });
  }

  /** @throws WorkError if it has not ended in time */
  async stop(timeoutMs = STOP_MS): Promise<void> {
    await within("the service to stop", this.service.stop(timeoutMs));
    if (this.input === undefined) return;
    // Its opening waits for a reader.
    if (this.input.pending) closeSync(openSync(this.input.path, constants.O_RDONLY | constants.O_NONBLOCK));
    this.input.destroy();
  }
}
