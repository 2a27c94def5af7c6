/** `proofd import` into an empty store: from a node by one source, or from files. */
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
export function measureCatchUp(node: Followed, db: string, suite: string, blocks: number): Promise<CatchUp> {
  const {source, url, genesisPath, processes} = node;
  const flags = ["--l2", url.href, "--genesis", genesisPath, "--source", source, "--to", `${blocks}`];
  return measureImport(["--db", db, "--suite", suite, ...flags], blocks, processes);
}

/** @param flags - of an import of so many blocks. @param nodes - which make them meanwhile */
export async function measureImport(
  flags: readonly string[],
  blocks: number,
  nodes: readonly ServerProcess[] = [],
): Promise<CatchUp> {
  const readNodeMs = () => nodes.reduce((sum, process) => sum + process.readCpuMs(), 0);
  const nodeStartMs = readNodeMs();
  const ownStartMs = readChildrenCpuMs();
  const startMs = performance.now();
  await runProofd(["import", ...flags]);
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
