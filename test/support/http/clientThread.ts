/** A thread with clients of the main thread's server: they take none of its time, and do not delay each other. */
import {closeSync, openSync, readSync} from "node:fs";
import {parentPort, workerData} from "node:worker_threads";
import {ThreadClock} from "../../../workers/threads/threadClock.ts";
import {RawConnection} from "./rawConnection.ts";

export interface ClientThread {
  readonly port: number;
  /** What each connection sends again and again. */
  readonly request: string;
  readonly connections: number;
  readonly address: string;
  /** Shared: how many answers have come, or connections were closed. A message for each would be work for the main thread. */
  readonly answered: Int32Array;
  /** After so many requests of one connection it ends, and tells how long the main thread worked until each was answered, in ms. */
  readonly asks?: number;
}

/** From an answer to the next request that is timed. */
const PAUSE_MS = 3;
const NANOSECONDS_PER_MS = 1e6;

const {port, request, connections, address, answered, asks}: ClientThread = workerData;
const bytes = Buffer.from(request);
const clock = new ThreadClock();

async function repeat(first: RawConnection): Promise<void> {
  for (let connection = first; ; ) {
    await connection.write(bytes);
    try {
      await connection.readAnswer();
    } catch {
      // The server has closed it.
      connection = await RawConnection.open(port, address);
    }
    Atomics.add(answered, 0, 1);
  }
}

async function time(connection: RawConnection, count: number): Promise<number[]> {
  const main = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const waits: number[] = [];
  // What the main thread does while this thread waits for a processor keeps nobody.
  const readWaitMs = () => readMs(main) - readOwnDelayMs();
  // The first request also waits for its connection to be accepted, and is not timed.
  for (let asked = 0; asked <= count; asked++) {
    const startMs = readWaitMs();
    await connection.write(bytes);
    const {status, body} = await connection.readAnswer();
    if (asked > 0) waits.push(Math.max(0, readWaitMs() - startMs));
    if (status !== 200) throw new Error(`${status} ${body.slice(0, 200)}`);
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }
  closeSync(main);
  connection.destroy();
  return waits;
}

function readOwnDelayMs(): number {
  clock.readMs();
  return clock.waitedMs;
}

/** Of the main thread's processor time. */
function readMs(file: number): number {
  // Linux updates a running thread's time at its timer ticks, and when the whole process's time is read.
  process.cpuUsage();
  const line = Buffer.alloc(64);
  const length = readSync(file, line, 0, line.length, 0);
  return Number.parseInt(line.toString("latin1", 0, length), 10) / NANOSECONDS_PER_MS;
}

const open = await Promise.all(Array.from({length: connections}, () => RawConnection.open(port, address)));
if (asks === undefined) await Promise.all(open.map(repeat));
else parentPort?.postMessage(await time(open[0] as RawConnection, asks));
