/** `proofd load`: loads a server and writes a report. Except for the flags, its code is loaded only when the command runs. */
import {accessSync, constants, statSync, writeFileSync} from "node:fs";
import {dirname} from "node:path";
import type {Command} from "commander";
import type {EarlierRun, LoadOptions} from "proofd-load";
import {WorkError} from "../../server/life/workError.ts";
import {kindOf, readWholeFile} from "../../storage/files/regularFile.ts";
import {ExitCode, watchSignals} from "../exitCode.ts";
import {createCommand} from "../flags/flagTable.ts";
import {LOAD_FLAGS, readLoadOptions} from "../flags/loadFlags.ts";

export function createLoad(onExitCode: (code: number) => void): Command {
  return createCommand(
    "load",
    "Load a server with proof requests; report throughput, latency, errors, and whether answers are right.",
    LOAD_FLAGS,
    async (values, command) => {
      const options = readLoadOptions(values, command);
      if (values.html !== undefined) requireFile(values.html, command);
      onExitCode(await runLoad(options, values, command));
    },
    // Flags such as --blocks mean something else in other commands.
    "PROOFD_LOAD",
  );
}

interface Output {
  /** The report of an earlier run. */
  readonly against: string | undefined;
  readonly json: boolean;
  readonly html: string | undefined;
}

/** @returns the exit code: FAILED if the report names a failure */
async function runLoad(
  options: LoadOptions,
  {against, json, html}: Output,
  command: Command,
): Promise<number> {
  const {
    compareReport,
    encodeReport,
    LiveLine,
    LoadError,
    readEarlierRun,
    startLoad,
    writeHtmlReport,
    writeTextReport,
  } = await import("proofd-load");
  const earlier = against === undefined ? undefined : readReport(against, readEarlierRun, command);
  const live = new LiveLine(process.stderr);
  const load = startLoad(options, row => live.show(row));
  const stopping = watchSignals();
  stopping.addEventListener("abort", () => {
    live.close();
    process.stderr.write(`${stopping.reason}: waiting for the requests under way\n`);
    load.stop();
  });
  try {
    const measured = await load.outcome;
    const report = earlier === undefined ? measured : compareReport(measured, earlier);
    live.close();
    process.stdout.write(json ? `${encodeReport(report)}\n` : writeTextReport(report));
    // The text report names its failures itself.
    if (json) for (const failure of report.failures) process.stderr.write(`FAILED: ${failure}\n`);
    if (html !== undefined) {
      writePage(html, writeHtmlReport(report));
      process.stderr.write(`wrote ${html}\n`);
    }
    return report.failures.length === 0 ? ExitCode.OK : ExitCode.FAILED;
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    if (error.code === "USAGE") return command.error(`error: ${error.message}`);
    throw new WorkError(error.message, {cause: error});
  } finally {
    live.close();
  }
}

/** @param read - of proofd-load */
function readReport(file: string, read: (text: string) => EarlierRun, command: Command): EarlierRun {
  try {
    return read(readWholeFile(file).toString());
  } catch (error) {
    return command.error(`error: --against ${file}: ${(error as Error).message}`);
  }
}

/** Checked before the load runs, so that no report is lost. */
function requireFile(file: string, command: Command): void {
  try {
    accessSync(dirname(file), constants.W_OK);
    const found = statSync(file, {throwIfNoEntry: false});
    if (found !== undefined && !found.isFile()) throw new Error(`expected a file, got ${kindOf(found)}`);
  } catch (error) {
    command.error(`error: --html ${file}: cannot be written: ${(error as Error).message}`);
  }
}

/** @throws WorkError if the file cannot be written, as on a full disk */
function writePage(file: string, page: string): void {
  try {
    writeFileSync(file, page);
  } catch (error) {
    throw new WorkError(`--html: cannot write ${file}: ${(error as Error).message}`, {cause: error});
  }
}
