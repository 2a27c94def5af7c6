/** Fills a store in the test's own process, as a thread of `proofd import` would: that process costs 0.9 s of processor time. */
import {writeFile} from "node:fs/promises";
import {StateStore} from "../../../storage/stateStore.ts";
import {Importer} from "../../../workers/import/importer.ts";
import type {ImportJob} from "../../../workers/job/importJob.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";
import "../processes/testProcess.ts";

export interface ImportedLinesOptions {
  /** Default: that of a store that is there, else sha256. */
  readonly suite?: string;
  /** As in ImportJob. */
  readonly finalized?: number | "last";
}

/** Leaves the lines in DIRECTORY.ndjson. @throws Error if the import fails */
export async function importLines(
  directory: string,
  lines: readonly DifferenceLine[],
  {suite, finalized}: ImportedLinesOptions = {},
): Promise<void> {
  const path = `${directory}.ndjson`;
  await writeFile(path, encodeLines(lines));
  const store = await StateStore.open({
    directory,
    role: "owner",
    createIfMissing: true,
    cacheBytes: 1 << 20,
    ...(suite === undefined ? {} : {suite}),
  });
  const {port1: port} = new MessageChannel();
  try {
    const source = {kind: "diffs", path, follow: false} as const;
    const job: ImportJob = {source, port, ...(finalized === undefined ? {} : {finalized})};
    const outcome = await (await Importer.create(store, job, () => {})).run();
    if (!outcome.ok) throw new Error(outcome.message);
  } finally {
    port.close();
    await store.close();
  }
}
