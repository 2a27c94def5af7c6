/** Catching up with a node from an empty store: `proofd import --l2`, by one source. */
import {spawn} from "node:child_process";
import {once} from "node:events";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import type {Figure} from "../stages/benchRun.ts";
import {type ChainNode, TRANSACTIONS_PER_BLOCK} from "./chainNode.ts";

const PROOFD = fileURLToPath(new URL("../../cli/main.js", import.meta.url));
/** USER_HZ. Linux shows all programs this value. */
const TICKS_PER_SECOND = 100;

export type FollowFigure = Omit<Figure, "suite" | "stage">;

/** @param blocks - the number of the node's newest block. @throws Error with the import's output if it fails */
export async function measureCatchUp(
  node: ChainNode,
  source: string,
  suite: string,
  blocks: number,
): Promise<FollowFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), "proofd-follow-db-"));
  const nodeStartMs = node.server.readCpuMs();
  const ownStartMs = readChildrenCpuMs();
  const startMs = performance.now();
  try {
    await runProofd([
      "import",
      ...["--db", join(folder, "db"), "--suite", suite, "--l2", node.server.url.href],
      ...["--genesis", node.genesisPath, "--source", source, "--to", `${blocks}`],
    ]);
  } finally {
    rmSync(folder, {recursive: true});
  }
  const seconds = (performance.now() - startMs) / 1000;
  const figures = [
    {name: `${source}: catching up`, value: blocks / seconds, unit: "blocks per second"},
    {
      name: `${source}: transactions`,
      value: (blocks * TRANSACTIONS_PER_BLOCK) / seconds,
      unit: "per second",
    },
  ];
  if (nodeStartMs === undefined || ownStartMs === undefined) return figures;
  const nodeMs = (node.server.readCpuMs() as number) - nodeStartMs;
  const ownMs = (readChildrenCpuMs() as number) - ownStartMs;
  return [
    ...figures,
    {name: `${source}: CPU of proofd`, value: ownMs / blocks, unit: "ms a block"},
    {
      name: `${source}: the node's share of the CPU`,
      value: (100 * nodeMs) / (nodeMs + ownMs),
      unit: "percent",
    },
  ];
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

/** CPU time of all ended children of this process; undefined if the system does not show it (Linux does). */
function readChildrenCpuMs(): number | undefined {
  let text: string;
  try {
    text = readFileSync("/proc/self/stat", "utf8");
  } catch {
    return undefined;
  }
  // cutime and cstime are fields 16 and 17.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS_PER_SECOND;
}
