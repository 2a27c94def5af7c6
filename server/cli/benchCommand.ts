/** `proofd bench`: loads a server and reports. But for its flags, the load's code is read only when this command runs. */
import {accessSync, constants, writeFileSync} from "node:fs";
import {dirname} from "node:path";
import {Command} from "commander";
import type {LoadOptions} from "../../load/loadOptions.ts";
import {type BenchFlags, createBenchOptions, readLoadOptions} from "./benchOptions.ts";
import {ExitCode, watchSignals} from "./exitCode.ts";
import {WorkError} from "./storeOpening.ts";

export function createBench(onExitCode: (code: number) => void): Command {
  const command = new Command("bench")
    .description(
      "Load a server with proof requests; report throughput, latency, errors, and whether answers are right.",
    )
    .action(async (flags: BenchFlags, self: Command) => {
      const options = readLoadOptions(flags, self);
      if (flags.html !== undefined) requireFolder(flags.html, self);
      onExitCode(await runBench(options, {json: flags.json === true, html: flags.html}, self));
    });
  for (const option of createBenchOptions()) command.addOption(option);
  return command;
}

interface Output {
  readonly json: boolean;
  /** A file. */
  readonly html: string | undefined;
}

/** @returns the exit code: FAILED where an answer was wrong, or no call got a result */
async function runBench(options: LoadOptions, {json, html}: Output, command: Command): Promise<number> {
  const {startLoad} = await import("../../load/loadRun.ts");
  const {LoadError} = await import("../../load/loadError.ts");
  const {LiveLine} = await import("../../load/liveLine.ts");
  const {isFine} = await import("../../load/report.ts");
  const {writeTextReport} = await import("../../load/textReport.ts");
  const live = new LiveLine(process.stderr);
  const load = startLoad(options, row => live.show(row));
  const unwatch = watchSignals(signal => {
    live.close();
    process.stderr.write(`${signal}: waiting for the requests under way\n`);
    load.stop();
  });
  try {
    const report = await load.outcome;
    live.close();
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : writeTextReport(report));
    if (html !== undefined) {
      const {writeHtmlReport} = await import("../../load/htmlReport.ts");
      writeFileSync(html, writeHtmlReport(report));
      process.stderr.write(`wrote ${html}\n`);
    }
    return isFine(report) ? ExitCode.OK : ExitCode.FAILED;
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    if (error.code === "USAGE") return command.error(`error: ${error.message}`);
    throw new WorkError(error.message, {cause: error});
  } finally {
    live.close();
    unwatch();
  }
}

/** Before the load, so that it is not for nothing. */
function requireFolder(file: string, command: Command): void {
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (error) {
    command.error(`error: --html ${file}: cannot be written: ${(error as Error).message}`);
  }
}
