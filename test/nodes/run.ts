/**
 * `npm run test:nodes`: runs the tests of this folder with real nodes. Without geth it says NOT RUN and why, and exits with 2.
 *
 * Run: node dist/test/nodes/run.js [--geth FILE] [--reth FILE] [OPTION OF test/run.ts...] [FILE...]
 *
 *   --geth   default: the one in PATH, else the one that install.ts installed
 *   --reth   a second client. Without it, its tests are skipped
 */
import {spawn, spawnSync} from "node:child_process";
import {once} from "node:events";
import {fileURLToPath} from "node:url";
import {findProgram} from "../support/processes/foundProgram.ts";
import {NODE_VARIABLES, type NodeProgram} from "../support/processes/nodePrograms.ts";
import {installedGeth} from "./install.ts";

const FOLDER = fileURLToPath(new URL("./", import.meta.url));
const RUN = fileURLToPath(new URL("../run.js", import.meta.url));

/** What each program prints about itself. */
const VERSIONS: Readonly<Record<NodeProgram, readonly [argument: string, RegExp]>> = {
  geth: ["version", /^Version: (.*)$/m],
  reth: ["--version", /^reth.* Version: (.*)$/im],
};

/** Why nothing can be run. */
class NotRun extends Error {}

const args = process.argv.slice(2);
try {
  const named = {geth: takeFile("--geth"), reth: takeFile("--reth")};
  const geth = named.geth ?? findProgram("geth") ?? installedGeth();
  if (geth === undefined)
    throw new NotRun(
      "expected geth in PATH, in --geth FILE, or installed by: node dist/test/nodes/install.js",
    );
  const variables = {...nameProgram("geth", geth), ...(named.reth && nameProgram("reth", named.reth))};
  process.exitCode = await runWith(variables);
} catch (error) {
  if (!(error instanceof NotRun)) throw error;
  console.error(`NOT RUN: ${error.message}`);
  process.exitCode = 2;
}

function takeFile(flag: string): string | undefined {
  const at = args.indexOf(flag);
  if (at < 0) return undefined;
  const [, file] = args.splice(at, 2);
  if (file === undefined) throw new NotRun(`expected a file after ${flag}`);
  return file;
}

function nameProgram(program: NodeProgram, binary: string): Record<string, string> {
  const [argument, pattern] = VERSIONS[program];
  const {status, stdout, stderr, error} = spawnSync(binary, [argument], {encoding: "utf8"});
  const version = pattern.exec(stdout ?? "")?.[1];
  const why = error?.message ?? (stderr.trim() || "it prints no version");
  if (status !== 0 || version === undefined)
    throw new NotRun(`expected ${program}, but ${binary} does not run as it: ${why}`);
  console.log(`${program} ${version}: ${binary}`);
  return {[NODE_VARIABLES[program]]: binary};
}

async function runWith(variables: Readonly<Record<string, string>>): Promise<number> {
  const hasFiles = args.some(arg => !arg.startsWith("-"));
  const child = spawn(process.execPath, [RUN, ...args, ...(hasFiles ? [] : [FOLDER])], {
    env: {...process.env, ...variables},
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  return code ?? 1;
}
