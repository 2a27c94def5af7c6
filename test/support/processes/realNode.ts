/**
 * A real execution client as a process of its own. It makes no blocks by itself: EngineApi tells it what its chain is.
 *
 *   url         HTTP and WebSocket
 *   engineUrl   the engine API, for those who know the secret
 */
import {type ChildProcessWithoutNullStreams, spawnSync} from "node:child_process";
import {randomBytes} from "node:crypto";
import {mkdirSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {RpcNode} from "../nodes/rpcNode.ts";
import {once, within} from "../wait.ts";
import {startChild} from "./childProcesses.ts";
import {findNode, type NodeProgram} from "./nodePrograms.ts";

const KEPT_OUTPUT = 16_384;

interface NodeOptions {
  readonly folder: string;
  /** Which the folder's database begins with. */
  readonly genesisPath: string;
  /** Besides those that every node of a test has. A later value of a flag wins. */
  readonly flags?: readonly string[];
}

interface Ports {
  readonly rpc: number;
  readonly engine: number;
}

export interface ClientKind {
  readonly program: NodeProgram;
  /** Arguments that make the database. */
  readonly init: (options: Required<NodeOptions>) => readonly string[];
  /** Those that run it on these ports, 0 for free ones, without the flags of the options. */
  readonly run: (options: NodeOptions, ports: Ports, secretPath: string) => readonly string[];
  /** Match a line of its log that has the port. */
  readonly listening: {readonly rpc: RegExp; readonly engine: RegExp};
}

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ports: Ports;
}

export class RealNode extends RpcNode {
  readonly name: string;
  private child: ChildProcessWithoutNullStreams;
  private readonly ports: Ports;

  private constructor(
    private readonly kind: ClientKind,
    private readonly options: NodeOptions,
    readonly secret: Buffer,
    started: Started,
  ) {
    super();
    this.name = kind.program;
    this.child = started.child;
    this.ports = started.ports;
  }

  /** Makes the database and starts the node on free ports. @throws Error with its output if it ends before it listens */
  static async start(kind: ClientKind, options: NodeOptions): Promise<RealNode> {
    const {flags = [], ...others} = options;
    const {status, stderr, stdout} = spawnSync(findNode(kind.program), kind.init({...others, flags}), {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${kind.program} init ended with ${status}: ${stderr}${stdout}`);
    const secret = randomBytes(32);
    mkdirSync(options.folder, {recursive: true});
    await writeFile(secretPath(options), secret.toString("hex"));
    return new RealNode(kind, options, secret, await launch(kind, options, {rpc: 0, engine: 0}));
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get url(): string {
    return `http://127.0.0.1:${this.ports.rpc}`;
  }

  get socketUrl(): string {
    return `ws://127.0.0.1:${this.ports.rpc}`;
  }

  get engineUrl(): string {
    return `http://127.0.0.1:${this.ports.engine}`;
  }

  /** Starts it again on its ports, after `stop` or `kill`. */
  async restart(): Promise<void> {
    ({child: this.child} = await launch(this.kind, this.options, this.ports));
  }

  /** It saves the states that it has in memory. */
  stop(): Promise<void> {
    return this.end("SIGTERM");
  }

  /** It loses the states that it has in memory, so its head falls. */
  kill(): Promise<void> {
    return this.end("SIGKILL");
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const {child} = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill(signal);
    await closed;
  }
}

function secretPath({folder}: NodeOptions): string {
  return join(folder, "secret");
}

async function launch(
  {program, run, listening}: ClientKind,
  options: NodeOptions,
  ports: Ports,
): Promise<Started> {
  const args = [...run(options, ports, secretPath(options)), ...(options.flags ?? [])];
  const child = startChild(findNode(program), args);
  child.stdin.end();
  let output = "";
  const listens = new Promise<Started>((resolve, reject) => {
    let rpc: string | undefined;
    let engine: string | undefined;
    child.once("close", code => reject(new Error(`${program} ended with ${code}: ${output}`)));
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on("line", line => {
        output = `${output}${line}\n`.slice(-KEPT_OUTPUT);
        rpc ??= listening.rpc.exec(line)?.[1];
        engine ??= listening.engine.exec(line)?.[1];
        if (rpc !== undefined && engine !== undefined)
          resolve({child, ports: {rpc: Number(rpc), engine: Number(engine)}});
      });
  });
  return within(`${program} to listen`, listens);
}
