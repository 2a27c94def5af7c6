/** Compares what a command needs with the limits of the system (`ulimit`). */
import {count} from "../../storage/count.ts";
import {WorkError} from "./workError.ts";

/** Node opens many modules at once: the EVM took 64 to 96 files. Streams and LevelDB take 20 to 30 later. */
const OF_PROCESS = 128;
/** A thread's event loop takes 4. The thread opens modules too. */
const PER_THREAD = 8;
/** Fewest connections of a useful service. */
const OF_CONNECTIONS = 64;

/**
 * GiB of addresses, most of them never used: V8 reserves 8 to 10 GB for each WebAssembly instance, to need no bounds
 * checks. Measured: 51 GB for `check`, 303 GB for 2 proof threads and 1 for estimates, 787 GB for 8 and 4.
 */
const GUARDED = {command: 64, service: 128, perThread: 96};
/** With bounds checks. Measured: 19 GB for 1 thread of each kind, 33 GB for 4 and 2. */
const UNGUARDED = {command: 8, service: 16, perThread: 6};
const UNGUARDED_OPTION = "--disable-wasm-trap-handler";

/** Read once: a report takes 8 to 40 ms. */
const LIMITS = readLimits();
/** Node has raised it to the hard limit. */
const MAX_FILES = softOf("open_files");
/** Before Node 22, the name was another one, for bytes too. */
const MAX_ADDRESSES = Math.min(softOf("virtual_memory_bytes"), softOf("virtual_memory_kbytes"));

/**
 * Called at the start: later, modules, threads and LevelDB would fail one by one, or V8 would end the process.
 *
 * @param threads - proof and estimate threads; 0 for a command that does not serve. @throws WorkError
 */
export function requireLimits(threads: number): void {
  const files = countOwnFiles(threads) + (threads === 0 ? 0 : OF_CONNECTIONS);
  const forWhat = threads === 0 ? "" : ` with ${count(threads, "proof and estimate thread")}`;
  if (MAX_FILES < files)
    throw new WorkError(
      `this process may open ${MAX_FILES} files (ulimit -n) but needs at least ${files}${forWhat}. Raise the limit`,
    );
  const nodeOptions = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  const {command, service, perThread} = nodeOptions.includes(UNGUARDED_OPTION) ? UNGUARDED : GUARDED;
  const gigabytes = threads === 0 ? command : service + perThread * threads;
  if (MAX_ADDRESSES < gigabytes * 2 ** 30)
    throw new WorkError(
      `this process may reserve ${(MAX_ADDRESSES / 2 ** 30).toFixed(1)} GiB of address space (ulimit -v) but needs at least ${gigabytes} GiB${forWhat}: ` +
        "WebAssembly reserves far more than it uses. Remove this limit, and limit memory with a control group instead",
    );
}

/** @returns how many connections leave enough files. LevelDB opens up to a fifth of the limit for its tables */
export function limitConnections(threads: number): number {
  return Math.max(OF_CONNECTIONS, Math.floor(MAX_FILES * 0.8) - countOwnFiles(threads));
}

function countOwnFiles(threads: number): number {
  return OF_PROCESS + PER_THREAD * threads;
}

function readLimits(): Readonly<Record<string, {readonly soft: unknown}>> {
  // Without this, the report resolves names of interfaces and connections. (Node's types lack the property.)
  Object.assign(process.report, {excludeNetwork: true});
  return (process.report.getReport() as {userLimits?: typeof LIMITS}).userLimits ?? {};
}

function softOf(name: string): number {
  const soft = LIMITS[name]?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
