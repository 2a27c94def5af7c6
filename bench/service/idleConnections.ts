/** Clients that are connected and ask for nothing. The server closes them after ten seconds. */
import {readFileSync} from "node:fs";
import {connect, type Socket} from "node:net";
import type {ServerProcess} from "../served/serverProcess.ts";
import {compareProofs, type Finding, MB, type ServiceBench, warmUp, withServer} from "./serviceBench.ts";

const WANTED = 10_000;
/** Open files that both processes need for other purposes. */
const SPARE_FILES = 500;
const AT_ONCE = 200;

export function measureIdleConnections(bench: ServiceBench): Promise<Finding[]> {
  const limit = readFileLimit();
  const count = Math.min(WANTED, limit - SPARE_FILES);
  process.stderr.write(`  ulimit -n is ${limit}: ${count} idle connections\n`);
  return withServer(bench, [], async server => {
    await warmUp(server, bench);
    let before = 0;
    let rss = 0;
    let open = 0;
    const {beside, ratio} = await compareProofs(server, bench, 1, async () => {
      before = server.readMemory().rss;
      const sockets: Socket[] = [];
      while (sockets.length < count) {
        const made = Math.min(AT_ONCE, count - sockets.length);
        sockets.push(...(await Promise.all(Array.from({length: made}, () => openSocket(server)))));
      }
      return async () => {
        rss = server.readMemory().rss;
        open = sockets.filter(({destroyed}) => !destroyed).length;
        for (const socket of sockets) socket.destroy();
      };
    });
    return [
      {figure: `RSS with ${count} idle connections`, value: rss / MB, unit: "MB"},
      {figure: "... more than before them", value: (rss - before) / MB, unit: "MB"},
      {figure: "... open at the end", value: open, unit: ""},
      {figure: "... p99 of others' single proofs", value: beside, unit: "ms"},
      {figure: "... ratio", value: ratio, unit: "x"},
    ];
  });
}

function openSocket({url}: ServerProcess): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({host: url.hostname, port: Number(url.port)}, () => resolve(socket));
    socket.on("error", reject);
    // Without a reader the end of the connection is not seen.
    socket.resume();
  });
}

/** Node raises its own limit as far as allowed; a child process has the same limit. */
function readFileLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
}
