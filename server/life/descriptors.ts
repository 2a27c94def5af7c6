/** Compares the open files that a command needs with the limit of the system. */
import {WorkError} from "./workError.ts";

/** Node opens many modules at once: those of the EVM took 64 to 96 files. Streams, event loop and LevelDB take 20 to 30 later. */
const OF_PROCESS = 128;
/** A thread's event loop takes 4. The thread opens modules too. */
const PER_THREAD = 8;
/** Least number of connections for a useful service. */
const OF_CONNECTIONS = 64;

/** Read once: a report takes 8 to 40 ms. */
const LIMIT = readLimit();

/**
 * Checked at the start, because with too few files modules, threads and LevelDB fail one by one with different errors.
 *
 * @param threads - proof and estimate threads; 0 for a command that does not serve
 * @throws WorkError if the limit is too low
 */
export function requireDescriptors(threads: number): void {
  const needed = countOwn(threads) + (threads === 0 ? 0 : OF_CONNECTIONS);
  if (LIMIT >= needed) return;
  const forWhat = threads === 0 ? "" : ` with ${threads} proof and estimate threads`;
  throw new WorkError(
    `this process may open ${LIMIT} files (ulimit -n) but needs at least ${needed}${forWhat}. Raise the limit`,
  );
}

/** @returns how many connections leave the process enough files. LevelDB opens up to a fifth of the system's limit for its tables */
export function limitConnections(threads: number): number {
  return Math.max(OF_CONNECTIONS, Math.floor(LIMIT * 0.8) - countOwn(threads));
}

function countOwn(threads: number): number {
  return OF_PROCESS + PER_THREAD * threads;
}

/** The soft limit, which Node has raised to the hard one. Infinity if there is none, as on Windows. */
function readLimit(): number {
  // Without this, the report looks up names of interfaces and connections. (Node's types lack the property.)
  Object.assign(process.report, {excludeNetwork: true});
  const {userLimits} = process.report.getReport() as {userLimits?: {open_files?: {soft: number | string}}};
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
