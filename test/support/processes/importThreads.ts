/**
 * A process that imports from one input again and again. Each import is stopped in the middle, or its thread is killed. At
 * the end the process prints which of its descriptors are left open.
 *
 * Run: node importThreads.js DIRECTORY FIFO
 */
import {readdirSync, readlinkSync} from "node:fs";
import {open} from "node:fs/promises";
import type {ImportThread} from "../../../workers/chain/importSession.ts";
import {Engine} from "../../../workers/engine.ts";
import type {Running} from "../../../workers/threads/running.ts";
import {encodeLines} from "../chains/differenceLine.ts";
import {createLine} from "../chains/serviceLines.ts";
import {killThread} from "../threads/killThread.ts";

const ROUNDS = 2;
const [directory, path] = process.argv.slice(2) as [string, string];
const engine = await Engine.open({directory, workers: 1, cacheBytes: 1 << 20, createIfMissing: true});

function killImportThread(): void {
  const {imports} = engine as unknown as {imports: ImportThread};
  void killThread(imports);
}

/** @param end - called when the block is on disk, with more to come */
async function importBlock(block: number, end: (running: Running<unknown>) => void): Promise<void> {
  const job = {source: {kind: "diffs", path}, allowUnverified: true} as const;
  const onEvent = (): void => end(running);
  const running: Running<unknown> = engine.startImport(job, onEvent);
  const ended = running.outcome.then(
    () => "stopped",
    () => "died",
  );
  const writer = await open(path, "a");
  await writer.write(encodeLines([createLine(block)]));
  const how = await ended;
  await writer.close();
  process.stdout.write(`${how}\n`);
}

for (let round = 0; round < ROUNDS; round++) {
  await importBlock(2 * round, running => running.stop());
  await importBlock(2 * round + 1, killImportThread);
}
await engine.close();
const left = readdirSync("/proc/self/fd").flatMap(fd => {
  try {
    return [readlinkSync(`/proc/self/fd/${fd}`)];
  } catch {
    return []; // the descriptor that lists the others
  }
});
const ours = left.filter(target => target === path || target.startsWith(directory));
process.stdout.write(`left open: ${ours.join(" ")}\n`);
