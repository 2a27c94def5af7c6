/** What the `proofd` binary does in a version of Node that it runs on. */
import {requireLimits} from "../server/lifecycle/processLimits.ts";
import {ExitCode} from "./exitCode.ts";

export async function start(): Promise<void> {
  // A lookup of a name cannot be cancelled, and the process cannot end during one. glibc would wait 20 s for a name server
  // that does not answer; this makes it 4 s.
  process.env.RES_OPTIONS ??= "timeout:1 attempts:2";
  try {
    requireLimits(0);
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`);
    process.exit(ExitCode.FAILED);
  }
  const {run} = await import("./run.ts");
  // Setting process.exitCode is not enough: threads and sockets that a failed command left open would keep the process
  // alive.
  process.exit(await run(process.argv.slice(2), process.env));
}
