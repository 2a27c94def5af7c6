/** A small file system in memory, in a mount namespace of its own, for a program that is to meet a full disk. */
import type {ChildProcessWithoutNullStreams} from "node:child_process";
import {once} from "node:events";
import {mkdir} from "node:fs/promises";
import {runChild, startChild} from "../processes/childProcesses.ts";
import {within} from "../wait.ts";

const HELD = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && echo mounted && exec cat';

export class SmallDisk {
  private constructor(
    private readonly holder: ChildProcessWithoutNullStreams,
    readonly folder: string,
  ) {}

  /** @param size - as mount takes it. @returns undefined if nothing can be mounted here */
  static async mount(folder: string, size: string): Promise<SmallDisk | undefined> {
    await mkdir(folder, {recursive: true});
    const args = ["--mount", "--map-root-user", "sh", "-c", HELD, "sh", size, folder];
    const holder = startChild("unshare", args);
    holder.stderr.resume();
    const mounted = await within(
      "a mount",
      Promise.race([once(holder.stdout, "data"), once(holder, "close")]),
    );
    return String(mounted[0]) === "mounted\n" ? new SmallDisk(holder, folder) : undefined;
  }

  /** What to run a program under, so that it sees the disk. It lives on when the program dies. */
  get under(): readonly string[] {
    return ["nsenter", "--preserve-credentials", "-U", "-m", "-t", String(this.holder.pid)];
  }

  /** Writes until nothing more goes in. */
  async fill(): Promise<void> {
    await this.run(`cat /dev/zero > "$1/filler" || true`);
  }

  async free(): Promise<void> {
    await this.run(`rm "$1/filler"`);
  }

  async unmount(): Promise<void> {
    const closed = once(this.holder, "close");
    this.holder.stdin.end();
    await within("a mount to end", closed);
  }

  private async run(script: string): Promise<void> {
    const [command = "", ...args] = [...this.under, "sh", "-c", script, "sh", this.folder];
    const {code, stderr} = await runChild(command, args);
    if (code !== 0) throw new Error(`${script}: ${stderr}`);
  }
}
