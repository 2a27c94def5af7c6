/** A service in the test's own process, over the chain of serviceChain.ts, whose finality moves when a test says so. */
import {cp} from "node:fs/promises";
import {type Logger, pino} from "pino";
import {createFront, type Front, type FrontOptions} from "../../../server/front.ts";
import {DEFAULT_LIMITS, type Limits} from "../../../server/limits.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import type {SlotFetcher} from "../../../server/slices/slotFetcher.ts";
import {Engine} from "../../../workers/engine.ts";
import {WorkFolder} from "../chains/serviceChain.ts";
import {encodePost, type RawAnswer, RawConnection} from "./rawConnection.ts";
import {testedHttp} from "./testedHttp.ts";

export const LATEST = 8;
export const FINALIZED = 4;

/** A store with blocks 0 to LATEST, finalized up to FINALIZED. Each service has a copy. */
export class FrontStore {
  private readonly folder: WorkFolder;
  private readonly db: string;
  private copies = 0;

  private constructor(folder: WorkFolder, db: string) {
    this.folder = folder;
    this.db = db;
  }

  static async create(): Promise<FrontStore> {
    const folder = new WorkFolder();
    return new FrontStore(folder, await folder.importChain("db", LATEST, FINALIZED));
  }

  async copy(): Promise<string> {
    const directory = this.folder.file(`copy-${this.copies++}`);
    await cp(this.db, directory, {recursive: true});
    return directory;
  }

  async serve(
    use: (service: FrontService) => Promise<void>,
    limits: Partial<Limits> = {},
    options: Partial<FrontOptions> = {},
  ): Promise<void> {
    const service = await FrontService.start(await this.copy(), limits, options);
    try {
      await use(service);
    } finally {
      await service.stop();
    }
  }
}

export class FrontService {
  readonly engine: Engine;
  readonly front: Front;
  readonly port: number;
  /** Lines of the log, from warnings on. */
  readonly logged: readonly string[];
  private readonly slots: SlotFetcher | undefined;
  private readonly connections: RawConnection[] = [];

  private constructor(
    engine: Engine,
    front: Front,
    port: number,
    logged: readonly string[],
    slots: SlotFetcher | undefined,
  ) {
    this.slots = slots;
    this.logged = logged;
    this.engine = engine;
    this.front = front;
    this.port = port;
  }

  static async start(
    directory: string,
    limits: Partial<Limits>,
    more: Partial<FrontOptions> = {},
    workers = 1,
    createSlots: (engine: Engine, log: Logger) => SlotFetcher | undefined = () => undefined,
  ): Promise<FrontService> {
    const engine = await Engine.open({directory, workers, cacheBytes: 1 << 22, createIfMissing: false});
    const options = {
      ...{host: "127.0.0.1", port: 0, http: testedHttp(), ...more},
      limits: {...DEFAULT_LIMITS, ...limits},
    };
    const logged: string[] = [];
    const log = pino({level: "warn"}, {write: (line: string) => logged.push(line)});
    const slots = createSlots(engine, log);
    const front = createFront(options, engine, {kind: "none"}, new TroubleLog(log), log, {slots});
    return new FrontService(engine, front, await front.http.listen(), logged, slots);
  }

  /** Sends a whole request on a connection of its own. */
  async exchange(request: string): Promise<RawAnswer> {
    const connection = await RawConnection.open(this.port);
    this.connections.push(connection);
    await connection.write(request);
    return connection.readAnswer();
  }

  async ask(body: unknown): Promise<string> {
    return (await this.exchange(encodePost(JSON.stringify(body)))).body;
  }

  /** @returns the value of a sample of /metrics, 0 if it is not there */
  async readMetric(sample: string): Promise<number> {
    const {text} = await this.front.metrics.read();
    const line = text.split("\n").find(one => one.startsWith(`${sample} `));
    return line === undefined ? 0 : Number(line.slice(sample.length + 1));
  }

  async stop(): Promise<void> {
    for (const connection of this.connections) connection.destroy();
    this.front.http.close();
    this.front.dispatcher.close();
    await this.slots?.close();
    await this.engine.close();
  }
}
