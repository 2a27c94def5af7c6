/** A disk gets full while a node is followed: it is named, the store is served, and following goes on once it is freed. */
import assert from "node:assert/strict";
import {mkdir, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {createLiveTest} from "../../support/chains/liveTest.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {createLines} from "../../support/chains/serviceLines.ts";
import {readReadiness} from "../../support/http/followingDaemon.ts";
import {compareBlocks} from "../../support/http/liveComparison.ts";
import {readLog, waitForChain} from "../../support/http/nodeFollower.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {type Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {LOOK_MS} from "../../support/wait.ts";

const SIZE = "64M";
const SMALL = 'mount -t tmpfs -o size=1m none "$1"; shift; exec "$@"';
/** A disk that was not unmounted is mounted read-only in two steps: the first repairs it by its journal. */
const MOUNT = 'mount -o loop "$1" "$2"; mount -o "remount,$3" "$2"; shift 3; exec "$@"';

/** A small disk that a test can fill, in a mount namespace of each process. It needs root on Linux. */
class LoopDisk {
  /** Where processes see the disk. */
  readonly path: string;
  private readonly image: string;

  private constructor(image: string, path: string) {
    this.image = image;
    this.path = path;
  }

  /** @returns the disk, or a text that says why there can be none */
  static async create(folder: string): Promise<LoopDisk | string> {
    const disk = new LoopDisk(join(folder, "disk.img"), join(folder, "disk"));
    await mkdir(disk.path);
    for (const command of [
      ["truncate", "-s", SIZE, disk.image],
      ["mkfs.ext4", "-q", disk.image],
      [...disk.mounted(), "nsenter", "--version"],
    ]) {
      const [program, ...args] = command as [string, ...string[]];
      const failure = await runChild(program, args).then(
        ({code, stderr}) => (code === 0 ? undefined : stderr.trim()),
        (error: Error) => error.message,
      );
      if (failure !== undefined) return `no disk can be mounted here: ${command.join(" ")}: ${failure}`;
    }
    return disk;
  }

  /** A command that runs the arguments after it in a namespace where the disk is mounted. */
  mounted(mode: "rw" | "ro" = "rw"): string[] {
    return ["unshare", "--mount", "sh", "-e", "-c", MOUNT, "sh", this.image, this.path, mode];
  }

  /** Fills the disk that this process sees to its last byte. */
  fillFor(pid: number): Promise<void> {
    return this.runFor(pid, ["sh", "-c", `cat /dev/zero >"${this.path}/ballast" 2>/dev/null; sync`]);
  }

  freeFor(pid: number): Promise<void> {
    return this.runFor(pid, this.freeing);
  }

  /** As freeFor, while no process sees the disk. */
  free(): Promise<void> {
    return run([...this.mounted(), ...this.freeing]);
  }

  private get freeing(): readonly string[] {
    return ["sh", "-c", `rm "${this.path}/ballast" && sync`];
  }

  private runFor(pid: number, command: readonly string[]): Promise<void> {
    return run(["nsenter", "--target", `${pid}`, "--mount", ...command]);
  }
}

async function run(command: readonly string[]): Promise<void> {
  const [program, ...args] = command as [string, ...string[]];
  const {code, stderr} = await runChild(program, args);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}

const folder = new WorkFolder();
let chain: LiveChain | string;

test("an import that fills the disk says how much space it needs", async t => {
  const disk = folder.file("small");
  await mkdir(disk);
  const lines = folder.file("many.ndjson");
  await writeFile(lines, encodeLines(createLines(0, 300)));
  const under = ["unshare", "--mount", "--map-root-user", "sh", "-e", "-c", SMALL, "sh", disk];
  const args = ["import", "--diffs", lines, "--db", `${disk}/db`, "--allow-unverified"];
  const {code, stderr} = await runProofd(args, {under});
  if (/unshare|^mount/.test(stderr)) return notRun(t, "nothing can be mounted here");
  assert.equal(code, 1, stderr);
  const needed =
    /^error: LevelDB says .*No space left on device\. Import again when the disk has \d+ MB of free space \(now 0 MB\)\n/m;
  assert.match(stderr, needed);
});
before(async () => {
  chain = await LiveChain.create(folder.path);
  if (chain instanceof LiveChain) await chain.grow(3);
});
after(async () => {
  if (chain instanceof LiveChain) await chain.stop();
});

const liveTest = createLiveTest(() => chain);

const STOPPED = "proofd_writes_stopped";

async function growUntilFailed(daemon: Daemon, live: LiveChain): Promise<void> {
  while ((await daemon.readMetric('proofd_source_state{state="failed"}')) !== 1) await live.grow(1);
}

/** Waits until the disk is written again. The block whose write failed may be held before: LevelDB may have taken it. */
async function waitUntilReady(daemon: Daemon, live: LiveChain): Promise<void> {
  await daemon.until("readiness", async () => (await readReadiness(daemon))[0] === 200);
  await compareBlocks(daemon, live, await waitForChain(daemon, live));
}

/** Compares the blocks that are held with the node, and asks a proof thread for a proof. */
async function compareServed(daemon: Daemon, live: LiveChain): Promise<void> {
  await compareBlocks(daemon, live, await daemon.readMetric('proofd_head_block{which="latest"}'));
  const {error} = await daemon.call("chain_getProof", [`0x${"00".repeat(20)}`, [], "0x0"]);
  assert.equal(error, undefined);
}

/** Asks for proofs until `work` is done: each is answered. @returns how many came */
async function proveBeside(daemon: Daemon, work: Promise<void>): Promise<number> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  let proofs = 0;
  for (; !isDone; proofs++) {
    const {result, error} = await daemon.call("chain_getProof", [`0x${"00".repeat(20)}`, [], "0x0"]);
    assert.ok(result !== undefined, JSON.stringify(error));
    await pause(LOOK_MS);
  }
  await ended;
  return proofs;
}

/** One service and one store for all of it, so that each state of the disk costs no start. */
liveTest(
  "a full disk stops writing and no proof, and it goes on when it can write; a start on a full or read-only disk is refused",
  async (live, t) => {
    const disk = await LoopDisk.create(folder.path);
    if (typeof disk === "string") return notRun(t, disk);
    const db = `${disk.path}/followed.db`;
    const flags = ["--db", db, "--l2", live.anvil.url, "--genesis", live.genesisPath, "--finalized", "0"];
    const refuseStart = async (mode: "rw" | "ro", reason: string): Promise<void> => {
      const start = ["serve", ...flags, "--port", "0"];
      const {code, stdout, stderr} = await runProofd(start, {under: disk.mounted(mode)});
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(
        stderr,
        new RegExp(`cannot be opened while its disk takes no writes: free space .*${reason}`, "i"),
      );
    };
    const daemon = await startDaemon(flags, {under: disk.mounted()});
    try {
      await compareBlocks(daemon, live, await waitForChain(daemon, live));
      const pid = daemon.child.pid as number;
      await disk.fillFor(pid);
      assert.ok((await proveBeside(daemon, growUntilFailed(daemon, live))) > 0);
      const [status, text] = await readReadiness(daemon);
      assert.equal(status, 503);
      assert.match(text, /^the import has failed: .*no space left on device/i);
      // The log has the space that the disk needs, and the disk's own words.
      assert.match(
        daemon.stderr,
        /"reason":"nothing is written until the disk has \d+ MB of free space \(now \d+ MB\): [^"]*no space left[^"]*".*"the disk refused a write/i,
      );
      assert.equal(await daemon.readMetric(STOPPED), 1);
      await compareServed(daemon, live);
      await disk.freeFor(pid);
      // The same process opens the store again.
      assert.ok((await proveBeside(daemon, waitUntilReady(daemon, live))) > 0);
      assert.equal(readLog(daemon, "the disk takes writes again").length, 1);
      assert.equal(await daemon.readMetric(STOPPED), 0);
      await disk.fillFor(pid);
      await growUntilFailed(daemon, live);
    } finally {
      await daemon.stop("SIGKILL");
    }
    await refuseStart("rw", "No space left on device");
    await refuseStart("ro", "Read-only file system");
    await disk.free();
    const {code, stdout, stderr} = await runProofd(["check", "--db", db], {under: disk.mounted()});
    assert.equal(code, 0, stdout + stderr);
  },
);
