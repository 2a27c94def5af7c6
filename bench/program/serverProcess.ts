/** A server in a separate process, whose CPU time does not include the generator's. */
import {type ChildProcess, spawn} from "node:child_process";
import {once} from "node:events";
import {readFileSync} from "node:fs";
import {fileURLToPath} from "node:url";

/** USER_HZ, which is 100 for programs on Linux. */
const TICKS_PER_SECOND = 100;
const KEPT_OUTPUT = 16_384;
const KILL_AFTER_MS = 15_000;

export const PROOFD = fileURLToPath(new URL("../../cli/main.js", import.meta.url));
const ANNOUNCEMENT = /"url":"http:\/\/([^"]+)"/;

export function startProofd(db: string): Promise<ServerProcess> {
  const args = [PROOFD, "serve", "--db", db, "--port", "0", "--log-level", "warn"];
  return startServer("proofd", process.execPath, args, ANNOUNCEMENT);
}

/**
 * @param listening - matches the output of a listening server. Groups: host and port; optionally those of a second API
 * @throws Error with its output if it ends before it listens
 */
export async function startServer(
  name: string,
  command: string,
  args: readonly string[],
  listening: RegExp,
): Promise<ServerProcess> {
  const child = spawn(command, args, {stdio: ["ignore", "pipe", "pipe"]});
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  // Without a listener, SIGTERM would end the bench without its exit event, and leave the server running.
  process.once("SIGTERM", exitOnTerm);
  child.once("close", () => {
    process.off("exit", kill);
    process.off("SIGTERM", exitOnTerm);
  });
  let output = "";
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    const onText = (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT);
      const groups = listening.exec(output);
      if (groups !== null) resolve(groups);
    };
    child.stdout.setEncoding("utf8").on("data", onText);
    child.stderr.setEncoding("utf8").on("data", onText);
    child.once("error", reject);
    child.once("close", code => reject(new Error(`${name} ended with ${code}: ${output}`)));
  });
  const [, host, second] = found;
  return new ServerProcess(name, child, new URL(`http://${host}`), () => output, second);
}

/** The exit code is 128 plus the signal's number, as shells report it. */
function exitOnTerm(): void {
  process.exit(143);
}

export class ServerProcess {
  constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    readonly url: URL,
    private readonly readOutput: () => string,
    /** Host and port of the second API. */
    readonly second: string | undefined,
  ) {}

  /** User and system time of all threads so far. NaN except on Linux. */
  readCpuMs(): number {
    // utime and stime are fields 14 and 15.
    return readStatMs(`${this.child.pid}`, 14);
  }

  async call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const response = await fetch(this.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
    });
    const answer = (await response.json()) as {result?: unknown; error?: unknown};
    if (answer.error !== undefined)
      throw new Error(`${this.name}: ${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  async stop(): Promise<void> {
    const {exitCode, signalCode} = this.child;
    const ended = exitCode ?? signalCode ?? undefined;
    if (ended !== undefined)
      throw new Error(`${this.name} ended unexpectedly: ${ended}: ${this.readOutput()}`);
    const closed = once(this.child, "close");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), KILL_AFTER_MS);
    this.child.kill("SIGTERM");
    await closed;
    clearTimeout(timer);
  }
}

/** CPU time of all ended children of this process. NaN except on Linux. */
export function readChildrenCpuMs(): number {
  // cutime and cstime are fields 16 and 17.
  return readStatMs("self", 16);
}

/** Sum of two consecutive times. @param field - number of the first in proc(5) */
function readStatMs(process: string, field: number): number {
  let text = "";
  try {
    text = readFileSync(`/proc/${process}/stat`, "utf8");
  } catch {
    return Number.NaN;
  }
  // The second field, the program's name in parentheses, may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[field - 3]) + Number(fields[field - 2])) * 1000) / TICKS_PER_SECOND;
}
