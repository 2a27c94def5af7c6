/** Open files: what a command needs, and what the system lets it have. */
import {WorkError} from "./workError.ts";

/** Node reads many modules at once: the EVM's took between 64 and 96. Streams, event loop and LevelDB take 20 to 30 later. */
const OF_PROCESS = 128;
/** A thread's event loop takes 4; it reads modules too. */
const PER_THREAD = 8;
/** Fewer connections than these are no service. */
const OF_CONNECTIONS = 64;

/**
 * Where there are too few, modules, threads and LevelDB fail one by one, each with an error of its own.
 *
 * @param threads - proof and estimate threads; none: nothing is served
 * @throws WorkError if the limit is lower than what it takes
 */
export function requireDescriptors(threads: number): void {
  const limit = readLimit();
  const needed = OF_PROCESS + PER_THREAD * threads + (threads === 0 ? 0 : OF_CONNECTIONS);
  if (limit >= needed) return;
  const forWhat = threads === 0 ? "" : ` with ${threads} proof and estimate threads`;
  throw new WorkError(
    `this process may open ${limit} files (ulimit -n) but needs at least ${needed}${forWhat}. Raise the limit`,
  );
}

/** The soft limit, which Node has raised to the hard one; Infinity where there is none, as on Windows. */
function readLimit(): number {
  // Interfaces and connections are looked up by name otherwise. (Its types do not know it yet.)
  Object.assign(process.report, {excludeNetwork: true});
  const {userLimits} = process.report.getReport() as {userLimits?: {open_files?: {soft: number | string}}};
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
