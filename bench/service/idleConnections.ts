/** Clients that are connected and ask for nothing. The server closes them after ten seconds, so they connect again. */
import {readFileSync} from "node:fs";
import {connect, type Socket} from "node:net";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {compareProofs, MB, warmUp} from "./watch.ts";

const WANTED = 10_000;
/** Open files that both processes need for other purposes. */
const SPARE_FILES = 500;
const AT_ONCE = 200;

export async function measureIdleConnections(bench: ServiceBench): Promise<Finding[]> {
  const limit = readFileLimit();
  const count = Math.min(WANTED, limit - SPARE_FILES);
  process.stderr.write(`  ulimit -n is ${limit}: ${count} idle connections\n`);
  const server = await bench.startServer();
  try {
    await warmUp(server, bench);
    const crowd = new Crowd(server);
    let before = Number.NaN;
    let rss = Number.NaN;
    let open = 0;
    const {beside, ratio} = await compareProofs(server, bench, {
      begin: async () => {
        before = server.readMemory()?.rss ?? Number.NaN;
        await crowd.grow(count);
      },
      end: () => {
        rss = server.readMemory()?.rss ?? Number.NaN;
        open = crowd.open;
        crowd.close();
      },
      passes: 1,
    });
    return [
      {figure: `RSS with ${count} idle connections`, value: rss / MB, unit: "MB"},
      {figure: "... more than before them", value: (rss - before) / MB, unit: "MB"},
      {figure: "... open at the end", value: open, unit: ""},
      {figure: "... closed as idle and opened again meanwhile", value: crowd.replaced, unit: ""},
      {figure: "... p99 of others' single proofs", value: beside, unit: "ms"},
      {figure: "... ratio", value: ratio, unit: "x"},
    ];
  } finally {
    await server.stop();
  }
}

class Crowd {
  replaced = 0;
  private readonly server: ServerProcess;
  private readonly sockets = new Set<Socket>();
  private isClosed = false;

  constructor(server: ServerProcess) {
    this.server = server;
  }

  get open(): number {
    return this.sockets.size;
  }

  async grow(count: number): Promise<void> {
    for (let made = 0; made < count; made += AT_ONCE)
      await Promise.all(Array.from({length: Math.min(AT_ONCE, count - made)}, () => this.connect()));
  }

  close(): void {
    this.isClosed = true;
    for (const socket of this.sockets) socket.destroy();
  }

  private connect(): Promise<void> {
    const {hostname, port} = this.server.url;
    return new Promise((resolve, reject) => {
      const socket = connect({host: hostname, port: Number(port)});
      socket.once("connect", () => {
        this.sockets.add(socket);
        resolve();
      });
      socket.on("error", reject);
      socket.once("close", () => {
        this.sockets.delete(socket);
        if (this.isClosed) return;
        this.replaced++;
        this.connect().catch(() => {});
      });
      // Without a reader the end of the connection is not seen.
      socket.resume();
    });
  }
}

/** Node raises its own limit as far as allowed; a child process has the same limit. */
function readFileLimit(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
    return Number(line?.[1] ?? 1024);
  } catch {
    return WANTED + SPARE_FILES;
  }
}
