/** Fills a store in the test's own process: that of `proofd import` costs 0.9 s of processor time. */
import {writeFile} from "node:fs/promises";
import {createCommand} from "../../../cli/flags/flagTable.ts";
import {IMPORT_FLAGS, readImportSource} from "../../../cli/flags/importFlags.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {Engine} from "../../../workers/engine.ts";
import {Importer} from "../../../workers/import/importer.ts";
import type {ImportJob, ImportOutcome} from "../../../workers/messages/importJob.ts";
import type {ImportSource} from "../../../workers/messages/importSource.ts";
import {type DifferenceLine, encodeLines} from "../chains/differenceLine.ts";
import "../processes/testProcess.ts";

export interface ImportOptions extends Pick<ImportJob, "finalized" | "head" | "chainId" | "keepsChanges"> {
  /** Default: that of a store that is there, else sha256. */
  readonly suite?: string;
}

/** Makes the store if there is none. */
export async function importSource(
  directory: string,
  source: ImportSource,
  {suite, ...rules}: ImportOptions = {},
): Promise<ImportOutcome> {
  const store = await openOwned(directory, suite);
  try {
    return await importInto(store, source, rules);
  } finally {
    await store.close();
  }
}

/** Makes the store if there is none. */
export function openOwned(directory: string, suite?: string): Promise<StateStore> {
  return StateStore.open({
    directory,
    role: "owner",
    createIfMissing: true,
    cacheBytes: 1 << 20,
    ...(suite === undefined ? {} : {suite}),
  });
}

/** Without proof threads. Makes the store if there is none. */
export function openEngine(directory: string, suite?: string): Promise<Engine> {
  return Engine.open({directory, suite, workers: 0, cacheBytes: 1 << 20, createIfMissing: true});
}

export async function importInto(
  store: StateStore,
  source: ImportSource,
  rules: Omit<ImportOptions, "suite">,
): Promise<ImportOutcome> {
  const {port1: port} = new MessageChannel();
  try {
    return await (
      await Importer.create(store, {source, port, allowUnverified: true, ...rules}, () => {})
    ).run();
  } finally {
    port.close();
  }
}

/** Imports what these flags of `proofd import` say, `--history` apart. */
export async function importHere(args: readonly string[]): Promise<ImportOutcome> {
  const outcomes: ImportOutcome[] = [];
  const command = createCommand("import", "", IMPORT_FLAGS, async (values, self) => {
    const {db, suite, finalized, allowUnverified, head, chainId} = values;
    const rules = Object.entries({suite, finalized, allowUnverified, head, chainId}).filter(
      ([, rule]) => rule !== undefined,
    );
    outcomes.push(await importSource(db, readImportSource(values, self), Object.fromEntries(rules)));
  });
  await command.exitOverride().parseAsync(args, {from: "user"});
  return outcomes[0] as ImportOutcome;
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
