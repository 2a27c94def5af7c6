/**
 * A process that runs many command lines of proofd, one after the other: a process of its own costs each 0.2 s of processor
 * time. For those that end before they open anything. Others would not be alone in theirs.
 *
 * Run: node commandLines.js, with a JSON array of argument lists as its input, prints one of CommandEnds
 */
import {text} from "node:stream/consumers";
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

const ends: CommandEnd[] = [];
for (const args of JSON.parse(await text(process.stdin)) as string[][]) {
  const [endStdout, endStderr] = [takeWritten(process.stdout), takeWritten(process.stderr)];
  const code = await run(args, {});
  ends.push({code, stdout: endStdout(), stderr: endStderr()});
}
// A load that failed may have left a connection open.
process.stdout.write(JSON.stringify(ends), () => process.exit());
