/** Every descriptor has one owner: a second close would hit another file or socket with the same number. */
import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {createWriteStream, existsSync, readdirSync, readFileSync, readlinkSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {describe, test} from "node:test";
import {fileURLToPath} from "node:url";
import {Worker} from "node:worker_threads";
import {gzipSync} from "node:zlib";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {createLines} from "../../support/chains/serviceChain.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {Daemon, startDaemon} from "../../support/processes/daemon.ts";
import {sampleOf} from "../../support/soak.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";
import {once} from "../../support/wait.ts";

/** Absent on many machines, and not permitted in many containers. */
const HAS_STRACE = spawnSync("strace", ["-f", "-qq", "-e", "trace=close", "true"]).status === 0;

class CloseWatch {
  private readonly trace: string;
  private readonly record: string;

  /** @param path - of the files that the watch makes */
  constructor(path: string) {
    this.trace = `${path}.trace`;
    this.record = `${path}.record`;
  }

  /** For Daemon and runProofd. With strace the process stays their child, since the tracer is not its parent (-D). */
  get options(): {env: Record<string, string>; under?: readonly string[]} {
    const recorder = new URL("../../support/processes/closeRecorder.js", import.meta.url).href;
    const env = {NODE_OPTIONS: `--import ${recorder}`, CLOSE_RECORD: this.record};
    if (!HAS_STRACE) return {env};
    const under = ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-e", "trace=close", "-o", this.trace];
    return {env, under};
  }

  /** Call it after the process's end. @returns the closes that failed */
  readFailures(): string[] {
    const recorded = existsSync(this.record) ? readFileSync(this.record, "utf8").split("\n") : [];
    const traced = HAS_STRACE ? readFileSync(this.trace, "utf8").split("\n") : [];
    return [...recorded.filter(line => line !== ""), ...traced.filter(line => line.includes(" = -1 "))];
  }
}

/** Where the descriptors of a process can be listed. */
const ON_LINUX = {skip: process.platform === "linux" ? false : "needs /proc"};
const PLAIN = Buffer.from(encodeLines(createLines(0, 5)));
const PACKED = gzipSync(PLAIN);

describe("no descriptor is closed twice", () => {
  const folder = makeTemporaryFolder();
  let count = 0;

  function newPath(): string {
    return join(folder, `${count++}`);
  }

  function makeFifo(): string {
    const path = newPath();
    execFileSync("mkfifo", [path]);
    return path;
  }

  async function makeFile(bytes: Buffer): Promise<string> {
    const path = newPath();
    await writeFile(path, bytes);
    return path;
  }

  async function importFrom(input: string, feed: (daemon: Daemon) => void): Promise<void> {
    const watch = new CloseWatch(newPath());
    const daemon = new Daemon(
      ["import", "--db", newPath(), "--allow-unverified", "--diffs", input],
      watch.options,
    );
    feed(daemon);
    const {code, stdout, stderr} = await daemon.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^imported 6 blocks/);
    assert.deepEqual(watch.readFailures(), []);
  }

  /** A service that is stopped while it waits for more. @param feed - gives it the blocks */
  async function serveFrom(input: string, feed: (daemon: Daemon) => void): Promise<void> {
    const watch = new CloseWatch(newPath());
    const daemon = await startDaemon(["--db", newPath(), "--allow-unverified", "--diffs", input], {
      ...watch.options,
      estimates: true,
    });
    feed(daemon);
    while ((await daemon.readMetric('proofd_head_block{which="latest"}')) < 5);
    process.kill(daemon.announcement.pid as number, "SIGTERM");
    assert.equal((await daemon.finished).code, 0);
    assert.deepEqual(watch.readFailures(), []);
  }

  const imports: readonly (readonly [input: string, run: () => Promise<void>])[] = (
    [
      ["plain", PLAIN],
      ["gzip", PACKED],
    ] as const
  ).flatMap(([kind, bytes]) => [
    [`a file, ${kind}`, async () => importFrom(await makeFile(bytes), () => {})],
    [`standard input, ${kind}`, () => importFrom("-", ({child}) => void child.stdin.end(bytes))],
    [
      `a FIFO, ${kind}`,
      () => {
        const path = makeFifo();
        return importFrom(path, () => void createWriteStream(path).end(bytes));
      },
    ],
  ]);
  for (const [input, run] of sampleOf(imports, 4)) test(`by an import of ${input}`, run);

  const services: readonly (readonly [when: string, run: () => Promise<void>])[] = [
    ["while standard input is open", () => serveFrom("-", ({child}) => void child.stdin.write(PLAIN))],
    ["after it has read a file", async () => serveFrom(await makeFile(PLAIN), () => {})],
    [
      "while a writer has its FIFO open",
      async () => {
        const path = makeFifo();
        const writer = createWriteStream(path);
        await serveFrom(path, () => void writer.write(PLAIN));
        await once(writer.end(), "close");
      },
    ],
  ];
  for (const [when, run] of sampleOf(services, 3)) test(`by a service that is stopped ${when}`, run);

  test("by import threads that are stopped or die over a FIFO, and none is left open", ON_LINUX, async () => {
    const path = makeFifo();
    const watch = new CloseWatch(newPath());
    const program = fileURLToPath(new URL("../../support/processes/importThreads.js", import.meta.url));
    const {env, under = []} = watch.options;
    const [command, ...args] = [...under, process.execPath, program, newPath(), path];
    const options = {env: {PATH: process.env.PATH ?? "", ...env}};
    const {stdout} = await runChild(command as string, args, options);
    assert.equal(stdout, `${"stopped\ndied\n".repeat(2)}left open: \n`);
    assert.deepEqual(watch.readFailures(), []);
  });

  test("by a thread that ends with its clock, which is closed with it", ON_LINUX, async () => {
    const clocks = (): number =>
      readdirSync("/proc/self/fd").filter(fd => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).endsWith("/schedstat");
        } catch {
          return false; // the one that lists them
        }
      }).length;
    const before = clocks();
    const url = new URL("../../../workers/threads/threadClock.js", import.meta.url).href;
    const program = `import("${url}").then(({ThreadClock}) => postMessage(new ThreadClock().readMs()))`;
    const source = `const postMessage = value => require("worker_threads").parentPort.postMessage(value); ${program}`;
    const thread = new Worker(`${source}; setInterval(() => {}, 1000)`, {eval: true});
    assert.equal(typeof (await once(thread, "message"))[0], "number");
    assert.equal(clocks(), before + 1);
    await thread.terminate();
    assert.equal(clocks(), before);
  });
});
