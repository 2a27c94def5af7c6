/**
 * An import in a process of its own, which a test kills. It prints the acknowledged blocks on standard output.
 *
 * Run: node importProcess.js DIRECTORY SOURCE SUITE     SOURCE: an ImportSource as JSON
 */
import {Engine} from "../../../workers/engine.ts";

const [directory, source, suite] = process.argv.slice(2) as [string, string, string];
const engine = await Engine.open({directory, suite, workers: 0, cacheBytes: 1 << 20, createIfMissing: true});
const job = {source: JSON.parse(source), allowUnverified: true, finalized: "last"} as const;
const outcome = await engine.startImport(job, ({head}) => process.stdout.write(`${head.latest ?? -1}\n`))
  .outcome;
await engine.close();
process.exitCode = outcome.ok ? 0 : 1;
