/**
 * `npm run test:nodes`: runs the tests of this folder with a real node. Without one it says NOT RUN, and exits with 2.
 *
 * Run: node dist/test/nodes/run.js [--geth FILE] [OPTION OF test/run.ts...] [FILE...]
 */
import {spawn, spawnSync} from "node:child_process";
import {once} from "node:events";
import {fileURLToPath} from "node:url";
import {findProgram} from "../support/processes/foundProgram.ts";
import {GETH_VARIABLE} from "../support/processes/geth.ts";
import {installedGeth} from "./install.ts";

const FOLDER = fileURLToPath(new URL("./", import.meta.url));
const RUN = fileURLToPath(new URL("../run.js", import.meta.url));

const args = process.argv.slice(2);
const at = args.indexOf("--geth");
const [, named] = at < 0 ? [] : args.splice(at, 2);
const geth = at < 0 ? (findProgram("geth") ?? installedGeth()) : named;
process.exitCode = await runWith(geth);

async function runWith(binary: string | undefined): Promise<number> {
  if (binary === undefined) {
    console.error(
      "NOT RUN: expected geth in PATH, in --geth FILE, or installed by: node dist/test/nodes/install.js",
    );
    return 2;
  }
  const trial = spawnSync(binary, ["version"], {encoding: "utf8"});
  const version = /^Version: (.*)$/m.exec(trial.stdout ?? "")?.[1];
  if (trial.status !== 0 || version === undefined) {
    console.error(`NOT RUN: ${binary} does not run as geth: ${trial.error?.message ?? trial.stderr}`);
    return 2;
  }
  console.log(`geth ${version}: ${binary}`);
  const hasFiles = args.some(arg => !arg.startsWith("-"));
  const child = spawn(process.execPath, [RUN, ...args, ...(hasFiles ? [] : [FOLDER])], {
    env: {...process.env, [GETH_VARIABLE]: binary},
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  return code ?? 1;
}
