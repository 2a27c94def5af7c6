/** `proofd load`: loads a server and writes a report. */
import {writeFileSync} from "node:fs";
import type {Command} from "commander";
import type {LoadOptions} from "proofd-load";
import {WorkError} from "../../server/lifecycle/workError.ts";
import {ExitCode, watchSignals} from "../exitCode.ts";
import type {ValuesOf} from "../flags/flagTable.ts";
import type {LOAD_FLAGS} from "../flags/loadFlags.ts";
import {readAgainst} from "../flags/reportFile.ts";

/** @returns the exit code: FAILED if the report has a failure, unless only the generator was the bottleneck */
export async function runLoad(
  options: LoadOptions,
  {against, json, html}: Pick<ValuesOf<typeof LOAD_FLAGS>, "against" | "json" | "html">,
  command: Command,
): Promise<number> {
  const tool = await import("proofd-load");
  const earlier = against === undefined ? undefined : readAgainst(against, command, tool.readEarlierRun);
  const live = new tool.LiveLine(process.stderr);
  const load = tool.startLoad(options, row => live.show(row));
  const stopping = watchSignals();
  stopping.addEventListener("abort", () => {
    live.close();
    process.stderr.write(`${stopping.reason}: waiting for the requests under way\n`);
    load.stop();
  });
  try {
    const measured = await load.outcome;
    const report = earlier === undefined ? measured : tool.compareReport(measured, earlier);
    live.close();
    process.stdout.write(json ? `${tool.encodeReport(report)}\n` : tool.writeTextReport(report));
    // The text report lists its failures.
    if (json) for (const failure of report.failures) process.stderr.write(`FAILED: ${failure}\n`);
    if (html !== undefined) {
      const page = tool.writeHtmlReport(report);
      try {
        writeFileSync(html, page);
      } catch (error) {
        throw new WorkError(`--html: cannot write ${html}: ${(error as Error).message}`, {cause: error});
      }
      process.stderr.write(`wrote ${html}\n`);
    }
    if (report.failures.length === 0) return ExitCode.OK;
    return tool.isInconclusive(report) ? ExitCode.GENERATOR_WAS_LIMIT : ExitCode.FAILED;
  } catch (error) {
    if (!(error instanceof tool.LoadError)) throw error;
    if (error.code === "USAGE") return command.error(`error: ${error.message}`);
    throw new WorkError(error.message, {cause: error});
  } finally {
    live.close();
  }
}
