/** Runs command lines in one process (commandLines.ts) as a test asks for them. */
import type {ChildProcessWithoutNullStreams} from "node:child_process";
import {once} from "node:events";
import {createInterface} from "node:readline";
import {fileURLToPath} from "node:url";
import {startChild} from "./childProcesses.ts";
import type {CommandEnd} from "./commandLines.ts";

const PROGRAM = fileURLToPath(new URL("./commandLines.js", import.meta.url));

export class CommandSession {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly ends: AsyncIterator<string>;
  private stderr = "";

  constructor() {
    this.child = startChild(process.execPath, [PROGRAM], {env: {PATH: process.env.PATH ?? ""}});
    this.child.stdin.on("error", () => {}); // `run` says that the process has ended
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.ends = createInterface({input: this.child.stdout})[Symbol.asyncIterator]();
  }

  /** The command before it must have ended. @throws Error if the process ends */
  async run(args: readonly string[]): Promise<CommandEnd> {
    this.child.stdin.write(`${JSON.stringify(args)}\n`);
    const {value, done} = await this.ends.next();
    if (done === true) throw new Error(`proofd ${args.join(" ")} ended the process: ${this.stderr}`);
    return JSON.parse(value) as CommandEnd;
  }

  async stop(): Promise<void> {
    const closed = once(this.child, "close");
    this.child.stdin.end();
    await closed;
  }
}
