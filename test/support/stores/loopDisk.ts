/**
 * A small disk that a test can fill, or make read-only as a disk with errors becomes, while files on it are written. Each process sees it in a
 * mount namespace of its own, so nothing stays mounted when the process ends. It needs root on Linux.
 *
 * A plain `mount -o remount,ro` is refused while files are open for writing; ext4's `abort` is what a write error does.
 */
import {mkdir} from "node:fs/promises";
import {join} from "node:path";
import {runChild} from "../processes/childProcesses.ts";

const SIZE = "64M";
/** A disk with errors is mounted read-only in two steps: the first repairs it by its journal. */
const MOUNT = 'mount -o loop "$1" "$2"; mount -o "remount,$3" "$2"; shift 3; exec "$@"';

export class LoopDisk {
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

  /** From now on, all writes of that process to the disk fail. */
  breakFor(pid: number): Promise<void> {
    return this.runFor(pid, ["mount", "-o", "remount,abort", this.path]);
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

  /** A command that runs the arguments after it where that process sees the disk. */
  besides(pid: number): string[] {
    return ["nsenter", "--target", `${pid}`, "--mount"];
  }

  private get freeing(): readonly string[] {
    return ["sh", "-c", `rm "${this.path}/ballast" && sync`];
  }

  private runFor(pid: number, command: readonly string[]): Promise<void> {
    return run([...this.besides(pid), ...command]);
  }
}

async function run(command: readonly string[]): Promise<void> {
  const [program, ...args] = command as [string, ...string[]];
  const {code, stderr} = await runChild(program, args);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
