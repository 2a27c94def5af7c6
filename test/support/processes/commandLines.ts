/**
 * A process that runs command lines of proofd, one after the other: a process of its own costs each 0.2 s of processor time.
 * For commands that close what they open (a store left open is STORE_IN_USE for the next) and need no signals or variables.
 * It runs other programs too: those that work while they are loaded and set `process.exitCode`.
 *
 * Run: node commandLines.js; each line of its input is a JSON array of arguments (of another program, its URL first), and it
 * prints a line, a CommandEnd, for it
 */
import {createInterface} from "node:readline";
import {run} from "../../../cli/run.ts";

export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Write = typeof process.stdout.write;

/** Takes what is written to `stream` until the returned function is called, which gives it. */
function takeWritten(stream: NodeJS.WriteStream): () => string {
  const write = stream.write;
  let written = "";
  stream.write = ((part: string) => {
    written += part;
    return true;
  }) as Write;
  return () => {
    stream.write = write;
    return written;
  };
}

let programs = 0;

/** @returns the exit code */
async function runLine(args: string[]): Promise<number> {
  const [first = "", ...rest] = args;
  if (!first.startsWith("file:")) return run(args, {});
  process.argv = [process.execPath, first, ...rest];
  process.exitCode = 0;
  // A module is loaded once for each URL.
  await import(`${first}?${programs++}`);
  const code = process.exitCode;
  process.exitCode = 0;
  return code;
}

for await (const line of createInterface({input: process.stdin})) {
  const [endStdout, endStderr] = [takeWritten(process.stdout), takeWritten(process.stderr)];
  const code = await runLine(JSON.parse(line));
  const end: CommandEnd = {code, stdout: endStdout(), stderr: endStderr()};
  process.stdout.write(`${JSON.stringify(end)}\n`);
}
// A load that failed may have left a connection open.
process.stdout.write("", () => process.exit());
