/** The built `proofd` as a process. */
import {spawn} from "node:child_process";
import {once} from "node:events";
import {createInterface} from "node:readline";
import {fileURLToPath} from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** @throws Error if the command fails; what it says goes to standard error */
export async function runProofd(args) {
  const child = spawn(process.execPath, [MAIN, ...args], {stdio: ["ignore", "ignore", "inherit"]});
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`proofd ${args[0]} ended with ${code}`);
}

/** Starts `proofd serve` on a free port and waits until it listens. */
export async function startServer(args) {
  const options = ["serve", "--port", "0", "--log-level", "warn", ...args];
  const child = spawn(process.execPath, [MAIN, ...options], {stdio: ["ignore", "pipe", "inherit"]});
  const ended = once(child, "close").then(([code]) => ({code}));
  const announced = once(createInterface(child.stdout), "line").then(([line]) => JSON.parse(line));
  const first = await Promise.race([announced, ended]);
  if (!("url" in first)) throw new Error(`proofd serve ended with ${first.code}`);
  return {
    url: first.url,
    /** @throws Error unless it ends cleanly */
    async close() {
      child.kill("SIGTERM");
      const {code} = await ended;
      if (code !== 0) throw new Error(`proofd serve ended with ${code}`);
    },
  };
}
