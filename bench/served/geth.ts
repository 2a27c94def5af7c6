/** Finds geth, and starts it. It is no package of npm: users have their own, or install one by `node dist/test/nodes/install.js`. */
import {spawnSync} from "node:child_process";
import {existsSync} from "node:fs";
import {join} from "node:path";
import {findProgram, PROGRAMS_FOLDER, ProgramMissing, readVersion} from "../program/foundProgram.ts";
import {type ServerProcess, startServer} from "./serverProcess.ts";

/** The one that the tests were made with. */
export const GETH_VERSION = "v1.17.10";
/** Where it is installed to. */
export const GETH_FOLDER: string = join(PROGRAMS_FOLDER, `geth-${GETH_VERSION}`);

/** @returns the path of the one in PATH, else of the installed one. @throws ProgramMissing */
export function findGeth(): string {
  const installed = join(GETH_FOLDER, "geth");
  const path = findProgram("geth") ?? (existsSync(installed) ? installed : undefined);
  if (path !== undefined) return path;
  throw new ProgramMissing(
    "expected geth in PATH, in --geth FILE, or installed by: node dist/test/nodes/install.js",
  );
}

/** @throws ProgramMissing if it does not run as geth */
export function readGethVersion(path: string): string {
  return readVersion("geth", path, "version", /^Version: (.*)$/m);
}

/** Makes the database of a chain. @throws Error with geth's output */
export function initGeth(path: string, folder: string, genesisPath: string): void {
  const {status, stderr} = spawnSync(path, ["init", "--datadir", folder, genesisPath], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`geth init ended with ${status}: ${stderr}`);
}

/** Starts it on free ports, HTTP and WebSocket on the same one: an archive node without peers. */
export function startGeth(path: string, folder: string): Promise<ServerProcess> {
  return startServer({
    name: "geth",
    command: path,
    args: [
      ...["--datadir", folder, "--gcmode", "archive", "--history.state", "0", "--syncmode", "full"],
      ...["--nat", "none", "--port", "0", "--nodiscover"],
      ...["--maxpeers", "0", "--ipcdisable", "--authrpc.port", "0"],
      ...["--http", "--http.port", "0", "--http.api", "eth,debug,testing", "--ws", "--ws.port", "0"],
    ],
    listening: /HTTP server started +endpoint=(127\.0\.0\.1:\d+) auth=false/,
  });
}
