/** Catching up with a node from an empty store: `proofd import --l2`, by one source. */
import {spawn} from "node:child_process";
import {once} from "node:events";
import type {NodeSourceName} from "../../workers/job/importSource.ts";
import {PROOFD, readChildrenCpuMs, type ServerProcess} from "../served/serverProcess.ts";

interface Followed {
  readonly source: NodeSourceName;
  readonly url: URL;
  readonly genesisPath: string;
  /** Which make the node's answers. */
  readonly processes: readonly ServerProcess[];
}

export interface CatchUp {
  readonly blocksPerSecond: number;
  /** CPU time of proofd a block, its start included. NaN if the system does not show it. */
  readonly ownMs: number;
  /** CPU time of the node a block. */
  readonly nodeMs: number;
}

/**
 * @param db - the new store's folder
 * @param blocks - how many: the number of the last one
 * @throws Error with the import's output if it fails
 */
export async function measureCatchUp(
  node: Followed,
  db: string,
  suite: string,
  blocks: number,
): Promise<CatchUp> {
  const readNodeMs = () => node.processes.reduce((sum, process) => sum + process.readCpuMs(), 0);
  const nodeStartMs = readNodeMs();
  const ownStartMs = readChildrenCpuMs();
  const startMs = performance.now();
  await runProofd([
    ...["import", "--db", db, "--suite", suite, "--l2", node.url.href],
    ...["--genesis", node.genesisPath, "--source", node.source, "--to", `${blocks}`],
  ]);
  const blocksPerSecond = (1000 * blocks) / (performance.now() - startMs);
  const nodeMs = (readNodeMs() - nodeStartMs) / blocks;
  return {blocksPerSecond, ownMs: (readChildrenCpuMs() - ownStartMs) / blocks, nodeMs};
}

async function runProofd(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [PROOFD, ...args], {stdio: ["ignore", "pipe", "pipe"]});
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = await once(child, "close");
  process.off("exit", kill);
  if (code !== 0) throw new Error(`proofd ${args.join(" ")} ended with ${code}: ${output}`);
}
