/**
 * `npm run test:nodes`: runs the tests of this folder with real nodes. Without geth it says NOT RUN and why, and exits with 2,
 * or with 1 if there is a geth that does not run.
 *
 * Run: node dist/test/nodes/run.js [--geth FILE] [--reth FILE] [OPTION OF test/run.ts...] [FILE...]
 *
 *   --geth   default: the one in PATH, else the one that install.ts installed
 *   --reth   a second client. Without it, its tests are skipped
 *
 * op-geth is the one that install.ts installed. Without it, its tests are skipped.
 */
import {spawn} from "node:child_process";
import {once} from "node:events";
import {fileURLToPath} from "node:url";
import {ProgramMissing, readVersion} from "../support/processes/foundProgram.ts";
import {NODE_VARIABLES, type NodeProgram} from "../support/processes/nodePrograms.ts";
import {describeMissingOpGeth, OP_GETH} from "../support/processes/opGethFiles.ts";
import {findGeth, readGethVersion} from "./gethProgram.ts";

const FOLDER = fileURLToPath(new URL("./", import.meta.url));
const RUN = fileURLToPath(new URL("../run.js", import.meta.url));

const VERSION_READERS: Readonly<Record<NodeProgram, (path: string) => string>> = {
  geth: readGethVersion,
  "op-geth": readGethVersion,
  reth: path => readVersion("reth", path, "--version", /^reth.* Version: (.*)$/im),
};

const args = process.argv.slice(2);
try {
  const named = {geth: takeFile("--geth"), reth: takeFile("--reth")};
  const missing = describeMissingOpGeth();
  const variables = {
    ...nameProgram("geth", named.geth ?? findGeth()),
    ...(named.reth && nameProgram("reth", named.reth)),
    ...(missing === undefined && nameProgram("op-geth", OP_GETH)),
  };
  if (missing !== undefined) console.error(`NOT RUN: the tests of op-geth: ${missing}`);
  process.exitCode = await runWith(variables);
} catch (error) {
  if (!(error instanceof ProgramMissing)) throw error;
  console.error(`NOT RUN: ${error.message}`);
  process.exitCode = error.isNamed ? 1 : 2;
}

function takeFile(flag: string): string | undefined {
  const at = args.indexOf(flag);
  if (at < 0) return undefined;
  const [, file] = args.splice(at, 2);
  if (file === undefined) throw new ProgramMissing(`expected a file after ${flag}`, true);
  return file;
}

function nameProgram(program: NodeProgram, binary: string): Record<string, string> {
  console.log(`${program} ${VERSION_READERS[program](binary)}: ${binary}`);
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
