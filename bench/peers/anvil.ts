/** Starts anvil. bench/package.json has it as an optional dependency: 60 MB, for Linux on x64 only. */
import {createRequire} from "node:module";
import {dirname, join} from "node:path";
import {type ServerProcess, startServer} from "../program/serverProcess.ts";

const PACKAGE = "@foundry-rs/anvil-linux-amd64";

export function findAnvil(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), "bin", "anvil");
  } catch {
    return undefined;
  }
}

export async function startAnvil(...args: readonly string[]): Promise<ServerProcess> {
  const command = findAnvil();
  if (command === undefined) throw new Error(`expected anvil (npm install ${PACKAGE}): it is not installed`);
  return startServer("anvil", command, ["--port", "0", ...args], /Listening on (127\.0\.0\.1:\d+)/);
}
