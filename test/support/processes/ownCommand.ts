/** Commands of proofd in the test's own process, by their arguments: for tests that need no signal and no standard input. */
import {AsyncLocalStorage} from "node:async_hooks";
import {run} from "../../../cli/run.ts";
import type {CommandEnd} from "./commandLines.ts";
import "./testProcess.ts";

type Written = {stdout: string; stderr: string};

/** What the command under way has written. Other writes, such as those of the test runner, go their way. */
const written = new AsyncLocalStorage<Written>();
let running = 0;

for (const name of ["stdout", "stderr"] as const) {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (part: unknown, ...rest: unknown[]): boolean => {
    const taken = written.getStore();
    if (taken === undefined) return write(part, ...rest);
    taken[name] += part;
    return true;
  };
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Runs a command that opens no store that is open already. @param variables - set until it ends */
export async function runHere(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const before = SIGNALS.map(signal => process.listeners(signal));
  const taken: Written = {stdout: "", stderr: ""};
  Object.assign(process.env, variables);
  running++;
  const code = await written.run(taken, () => run(args, process.env));
  // While it is enabled, each promise of the process costs four times as much.
  if (--running === 0) written.disable();
  for (const name of Object.keys(variables)) delete process.env[name];
  // A command is its process's last work, so it leaves what waits for a signal.
  for (const [at, signal] of SIGNALS.entries())
    for (const listener of process.listeners(signal))
      if (!before[at]?.includes(listener)) process.off(signal, listener);
  return {code, ...taken};
}

export async function runAllHere(lines: readonly (readonly string[])[]): Promise<CommandEnd[]> {
  const ends: CommandEnd[] = [];
  for (const line of lines) ends.push(await runHere(line));
  return ends;
}
