/** A real nats-server with JetStream, as a process of its own. */
import type {ChildProcessWithoutNullStreams} from "node:child_process";
import {createInterface} from "node:readline";
import {connectNats, type NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {startChild} from "../processes/childProcesses.ts";
import {findProgram} from "../processes/foundProgram.ts";
import {findPorts} from "../processes/freePorts.ts";
import {once, waitUntil, within} from "../wait.ts";

interface ServerPlace {
  readonly name: string;
  /** Of JetStream, of its own. */
  readonly folder: string;
  readonly port: number;
  /** Of a cluster: its own port for the others, and theirs. */
  readonly cluster?: {readonly port: number; readonly others: readonly number[]; readonly monitor: number};
  readonly flags?: readonly string[];
}

interface RaftGroup {
  readonly leader?: string;
  /** The others, as the leader sees them. */
  readonly replicas?: readonly {readonly current: boolean}[];
}

/** Of /jsz, as much as is used here. */
interface JetStreamState {
  readonly meta_cluster: RaftGroup;
  readonly account_details?: readonly {readonly stream_detail?: readonly {readonly cluster: RaftGroup}[]}[];
}

/** @returns why nats-server does not run here; undefined: it does */
export function lacksNats(): string | undefined {
  if (findProgram("nats-server") !== undefined) return undefined;
  return "nats-server is not installed (Debian: apt-get install nats-server)";
}

/** The flags of a service that publishes there. NATS takes a stream only where all its bytes are free, and the default is 50 GB. */
export function publishTo(url: string): readonly string[] {
  return ["--publish", url, "--stream-gb", "1"];
}

export class NatsServer {
  private child: ChildProcessWithoutNullStreams | undefined;

  private constructor(private readonly place: ServerPlace) {}

  get port(): number {
    return this.place.port;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.place.port}`;
  }

  get settings() {
    return {urls: [this.url], credsPath: undefined};
  }

  connect(): Promise<NatsConnection> {
    return connectNats(this.settings, "test", new AbortController().signal, () => {});
  }

  /** Starts one server. @param flags - more arguments */
  static async start(folder: string, flags: readonly string[] = []): Promise<NatsServer> {
    const [port] = await findPorts(1);
    const server = new NatsServer({name: "n1", folder, port: port as number, flags});
    await server.start();
    return server;
  }

  /** Starts a cluster. Its servers do not tell clients of each other, so that a client has only the URLs that it was given. */
  static async startCluster(folders: readonly string[]): Promise<NatsServer[]> {
    const count = folders.length;
    const ports = await findPorts(3 * count);
    const routes = ports.slice(count, 2 * count);
    const servers = folders.map(
      (folder, at) =>
        new NatsServer({
          name: `n${at + 1}`,
          folder,
          port: ports[at] as number,
          cluster: {
            port: routes[at] as number,
            others: routes,
            monitor: ports[2 * count + at] as number,
          },
        }),
    );
    await Promise.all(servers.map(server => server.start()));
    return servers;
  }

  /** Starts it, also after `kill`, with what its folder has. */
  async start(): Promise<void> {
    const {name, folder, port, cluster, flags = []} = this.place;
    const clustered =
      cluster === undefined
        ? []
        : [
            ...["--no_advertise", "--cluster_name", "proofd", "-m", String(cluster.monitor)],
            ...["--cluster", `nats://127.0.0.1:${cluster.port}`],
            ...["--routes", cluster.others.map(one => `nats://127.0.0.1:${one}`).join(",")],
          ];
    const place = ["-a", "127.0.0.1", "-p", String(port), "-n", name, "-js", "-sd", folder];
    const child = startChild("nats-server", [...place, ...clustered, ...flags]);
    this.child = child;
    child.stdin.end();
    child.stdout.resume();
    let said = "";
    const ready = new Promise<void>((resolve, reject) => {
      child.once("close", code => reject(new Error(`nats-server ended with ${code}: ${said}`)));
      createInterface(child.stderr).on("line", line => {
        if (said.length < 10_000) said += `${line}\n`;
        if (/Server is ready/.test(line)) resolve();
      });
    });
    await within("nats-server to be ready", ready);
  }

  /**
   * Waits until the cluster and all streams have leaders, and those that this server leads are whole on the others. /healthz says too much: before
   * NATS 2.9.11 a server that was the cluster's leader once misses consumers for ever that it was about to make then.
   */
  async catchUp(): Promise<void> {
    const {name, cluster} = this.place;
    const url = `http://127.0.0.1:${cluster?.monitor}/jsz?streams=true`;
    await waitUntil(`${name} to catch up`, async () => {
      const {meta_cluster: meta, account_details: accounts = []} = (await (
        await fetch(url)
      ).json()) as JetStreamState;
      const streams = accounts.flatMap(({stream_detail: details = []}) => details.map(one => one.cluster));
      return [meta, ...streams].every(
        ({leader = "", replicas = []}) =>
          leader !== "" && (leader !== name || replicas.every(({current}) => current)),
      );
    });
  }

  /** Sends it a signal that it survives: SIGSTOP, SIGCONT. */
  send(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Kills it with -9. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const {child} = this;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill(signal);
    await closed;
  }
}
