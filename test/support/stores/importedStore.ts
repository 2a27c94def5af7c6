/**
 * Fills a store in the test's own process, as a thread of `proofd import` would: the command's process costs 0.9 s of processor
 * time.
 */
import {writeFile} from "node:fs/promises";
import {StateStore} from "../../../storage/stateStore.ts";
import {Importer} from "../../../workers/import/importer.ts";
import type {ImportJob, ImportOutcome} from "../../../workers/job/importJob.ts";
import type {ImportSource} from "../../../workers/job/importSource.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";
import "../processes/testProcess.ts";

export interface ImportOptions {
  /** Default: that of a store that is there, else sha256. */
  readonly suite?: string;
  /** As in ImportJob. */
  readonly finalized?: number | "last";
}

/** Makes the store if there is none. */
export async function importSource(
  directory: string,
  source: ImportSource,
  {suite, finalized}: ImportOptions = {},
): Promise<ImportOutcome> {
  const store = await StateStore.open({
    directory,
    role: "owner",
    createIfMissing: true,
    cacheBytes: 1 << 20,
    ...(suite === undefined ? {} : {suite}),
  });
  const {port1: port} = new MessageChannel();
  try {
    const job: ImportJob = {source, port, ...(finalized === undefined ? {} : {finalized})};
    return await (await Importer.create(store, job, () => {})).run();
  } finally {
    port.close();
    await store.close();
  }
}

/** Leaves the lines in DIRECTORY.ndjson. @throws Error if the import fails */
export async function importLines(
  directory: string,
  lines: readonly DifferenceLine[],
  options: ImportOptions = {},
): Promise<void> {
  const path = `${directory}.ndjson`;
  await writeFile(path, encodeLines(lines));
  const outcome = await importSource(directory, {kind: "diffs", path}, options);
  if (!outcome.ok) throw new Error(outcome.message);
}
