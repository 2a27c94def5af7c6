#!/usr/bin/env node
/** Entry of the `proofd` binary. All but the check below is loaded later: loading it takes open files. */
import {requireDescriptors} from "./descriptors.ts";

try {
  requireDescriptors(0);
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exit(1);
}
const {run} = await import("./run.ts");
// Not process.exitCode: threads and sockets that a failed command left behind must not keep the process.
process.exit(await run());
