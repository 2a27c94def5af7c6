/** Catching up with a node from an empty store: `proofd import --l2`, by one source. */
import {spawn} from "node:child_process";
import {once} from "node:events";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import type {NodeSourceName} from "../../workers/job/importSource.ts";
import type {ServerProcess} from "../served/serverProcess.ts";

const PROOFD = fileURLToPath(new URL("../../cli/main.js", import.meta.url));
/** USER_HZ. Linux shows all programs this value. */
const TICKS_PER_SECOND = 100;

export interface Followed {
  readonly source: NodeSourceName;
  readonly url: URL;
  readonly genesisPath: string;
  /** Which make the node's answers. */
  readonly processes: readonly ServerProcess[];
}

export interface CatchUp {
  readonly blocksPerSecond: number;
  /** Milliseconds a block; undefined if the system does not show them. The start of proofd is included. */
  readonly cpu: {readonly own: number; readonly node: number} | undefined;
}

/** @param blocks - the number of the node's newest block. @throws Error with the import's output if it fails */
export async function measureCatchUp(node: Followed, suite: string, blocks: number): Promise<CatchUp> {
  const folder = mkdtempSync(join(tmpdir(), "proofd-follow-db-"));
  const nodeStartMs = readCpuMs(node.processes);
  const ownStartMs = readChildrenCpuMs();
  const startMs = performance.now();
  try {
    await runProofd([
      "import",
      ...["--db", join(folder, "db"), "--suite", suite, "--l2", node.url.href],
      ...["--genesis", node.genesisPath, "--source", node.source, "--to", `${blocks}`],
    ]);
  } finally {
    rmSync(folder, {recursive: true});
  }
  const blocksPerSecond = (1000 * blocks) / (performance.now() - startMs);
  const nodeMs = readCpuMs(node.processes) - nodeStartMs;
  const ownMs = readChildrenCpuMs() - ownStartMs;
  if (Number.isNaN(nodeMs + ownMs)) return {blocksPerSecond, cpu: undefined};
  return {blocksPerSecond, cpu: {own: ownMs / blocks, node: nodeMs / blocks}};
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

/** @returns NaN if the system does not show it */
function readCpuMs(processes: readonly ServerProcess[]): number {
  return processes.reduce((sum, process) => sum + (process.readCpuMs() ?? Number.NaN), 0);
}

/** CPU time of all ended children of this process; NaN if the system does not show it (Linux does). */
function readChildrenCpuMs(): number {
  let text: string;
  try {
    text = readFileSync("/proc/self/stat", "utf8");
  } catch {
    return Number.NaN;
  }
  // cutime and cstime are fields 16 and 17.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS_PER_SECOND;
}
