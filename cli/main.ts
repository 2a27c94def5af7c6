#!/usr/bin/env node
/** Entry of the `proofd` binary. Everything else is loaded after the check below, because loading needs open files. */
import {requireDescriptors} from "../server/life/descriptors.ts";

try {
  requireDescriptors(0);
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exit(1);
}
const {run} = await import("./run.ts");
// Setting process.exitCode is not enough: threads and sockets that a failed command left open would keep the process alive.
process.exit(await run(process.argv.slice(2), process.env));
