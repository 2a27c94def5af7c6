/**
 * geth, a real node, as a process of its own. It makes no blocks by itself: EngineApi tells it what its chain is.
 *
 *   url         HTTP and WebSocket, with the namespaces of NAMESPACES
 *   engineUrl   the engine API, for those who know the secret
 */
import {type ChildProcessWithoutNullStreams, spawnSync} from "node:child_process";
import {randomBytes} from "node:crypto";
import {once} from "node:events";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {RpcNode} from "../nodes/rpcNode.ts";
import {startChild} from "./childProcesses.ts";
import {findNode} from "./nodePrograms.ts";

const NAMESPACES = "eth,debug,net,admin,testing";
/** MiB. With geth's default of 1024 its write-ahead logs take 1.2 GB of disk from the start. */
const CACHE = ["--cache", "64"];
const KEPT_OUTPUT = 16_384;

interface GethOptions {
  /** Of its own. */
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

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ports: Ports;
}

export class Geth extends RpcNode {
  protected readonly name = "geth";
  private child: ChildProcessWithoutNullStreams;
  private readonly ports: Ports;

  private constructor(
    private readonly options: GethOptions,
    readonly secret: Buffer,
    started: Started,
  ) {
    super();
    this.child = started.child;
    this.ports = started.ports;
  }

  /** Makes the database and starts the node on free ports. @throws Error with its output if it ends before it listens */
  static async start(options: GethOptions): Promise<Geth> {
    const {folder, genesisPath, flags = []} = options;
    // The database is of one scheme from its beginning on.
    const scheme = flags.filter((flag, at) => [flag, flags[at - 1]].includes("--state.scheme"));
    const made = spawnSync(
      findNode("geth"),
      [...CACHE, "init", "--datadir", folder, ...scheme, genesisPath],
      {
        encoding: "utf8",
      },
    );
    if (made.status !== 0) throw new Error(`geth init ended with ${made.status}: ${made.stderr}`);
    const secret = randomBytes(32);
    await writeFile(secretPath(options), secret.toString("hex"));
    return new Geth(options, secret, await launch(options, {rpc: 0, engine: 0}));
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
    ({child: this.child} = await launch(this.options, this.ports, this.child));
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

function secretPath({folder}: GethOptions): string {
  return join(folder, "secret");
}

/** @param replaced - the process that ran before */
async function launch(
  options: GethOptions,
  ports: Ports,
  replaced?: ChildProcessWithoutNullStreams,
): Promise<Started> {
  const {folder, flags = []} = options;
  const rpc = `${ports.rpc}`;
  const args = [
    ...[...CACHE, "--datadir", folder, "--gcmode", "archive", "--syncmode", "full", "--nat", "none"],
    ...["--port", "0", "--nodiscover", "--maxpeers", "0", "--ipcdisable"],
    // One port for both.
    ...["--http", "--http.port", rpc, "--http.api", NAMESPACES, "--ws", "--ws.port", rpc, "--ws.api", "eth"],
    ...["--authrpc.port", `${ports.engine}`, "--authrpc.jwtsecret", secretPath(options)],
    ...flags,
  ];
  const child = startChild(findNode("geth"), args, replaced && {replaced});
  child.stdin.end();
  let output = "";
  return new Promise((resolve, reject) => {
    const found: {rpc?: number; engine?: number} = {};
    child.once("close", code => reject(new Error(`geth ended with ${code}: ${output}`)));
    child.stdout.resume();
    createInterface(child.stderr).on("line", line => {
      output = `${output}${line}\n`.slice(-KEPT_OUTPUT);
      const [, port, auth] = /HTTP server started +endpoint=[^:]*:(\d+) auth=(\w+)/.exec(line) ?? [];
      if (auth !== undefined) found[auth === "true" ? "engine" : "rpc"] = Number(port);
      if (found.rpc !== undefined && found.engine !== undefined)
        resolve({child, ports: {rpc: found.rpc, engine: found.engine}});
    });
  });
}
