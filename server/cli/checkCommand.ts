/** `proofd check`: re-hashes what is stored and says what is wrong and where. */
import {ExitCode, exitCodeOf, type StopSignal, watchSignals} from "./exitCode.ts";
import {DEFAULT_CACHE_BYTES, openStore, WorkError} from "./storeOpening.ts";

export interface CheckOptions {
  readonly db: string;
  readonly block: number | undefined;
  readonly sample: number | undefined;
}

const PROGRESS_EVERY_MS = 3_000;

/** @returns the exit code: FAILED where anything is damaged */
export async function runCheck(options: CheckOptions): Promise<number> {
  const pool = await openStore({
    directory: options.db,
    workers: 0,
    cacheBytes: DEFAULT_CACHE_BYTES,
    createIfMissing: false,
    readOnly: true,
  });
  try {
    const block = chooseBlock(options, pool.head().latest);
    let nextMs = performance.now() + PROGRESS_EVERY_MS;
    let received: StopSignal | null = null;
    const running = pool.startCheck(
      {
        ...(block === undefined ? {} : {block}),
        ...(options.sample === undefined ? {} : {sample: options.sample}),
      },
      event => {
        if (event.kind === "finding") {
          process.stdout.write(`${event.where}: ${event.what}\n`);
        } else if (performance.now() >= nextMs) {
          nextMs = performance.now() + PROGRESS_EVERY_MS;
          process.stderr.write(`check: ${event.done} ${event.of}\n`);
        }
      },
    );
    const unwatch = watchSignals(signal => {
      received = signal;
      running.stop();
    });
    const outcome = await running.outcome;
    unwatch();
    const {blocks, pages, leaves, findings} = outcome;
    const verdict = findings === 0 ? "nothing wrong" : `${findings} findings`;
    process.stdout.write(`checked ${blocks} blocks, ${pages} pages, ${leaves} leaves: ${verdict}\n`);
    if (findings > 0) return ExitCode.FAILED;
    return received === null ? ExitCode.OK : exitCodeOf(received);
  } finally {
    await pool.close();
  }
}

/** A sample is of one block: the newest held where none is named, which is said. */
function chooseBlock(options: CheckOptions, latest: number | null): number | undefined {
  if (options.sample === undefined || options.block !== undefined) return options.block;
  if (latest === null) throw new WorkError("--sample: the store holds no block");
  process.stderr.write(`check: --sample without --block, so of the newest block held, ${latest}\n`);
  return latest;
}
