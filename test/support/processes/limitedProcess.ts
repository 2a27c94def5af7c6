/**
 * A process whose files may not grow beyond a size (`ulimit -f`), as on a full disk. It imports, and tries to write again
 * after a write was refused.
 *
 * Run: node limitedProcess.js DIRECTORY BLOCKS.ndjson, prints one line of JSON
 */
import {Engine} from "../../../workers/engine.ts";

const [directory, path] = process.argv.slice(2) as [string, string];
const engine = await Engine.open({directory, workers: 0, cacheBytes: 1 << 20, createIfMissing: true});
const job = {source: {kind: "diffs", path}, allowUnverified: true, finalized: 0} as const;
let acknowledged: number | undefined;
const first = await engine.startImport(job, ({head}) => {
  acknowledged = head.latest;
}).outcome;
const second = await engine.startImport(job, () => {}).outcome;
const rollback = await engine.writes.rollback(0).then(
  () => "done",
  (error: Error) => error.message,
);
await engine.close();
process.stdout.write(`${JSON.stringify({acknowledged, first, second, rollback})}\n`);
