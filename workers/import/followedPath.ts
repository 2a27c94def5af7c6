/** The path of an input that keeps growing: whether a file is there, and whether it is another one than before. */
import {type BigIntStats, constants} from "node:fs";
import {type FileHandle, open, stat} from "node:fs/promises";
import {setTimeout as delay} from "node:timers/promises";
import {SourceError} from "./sourceBlock.ts";

/** How often to look at a file, or at a path that has no file. */
export const FOLLOW_INTERVAL_MS = 100;

export class FollowedPath {
  readonly path: string;
  private readonly signal: AbortSignal;

  constructor(path: string, signal: AbortSignal) {
    this.path = path;
    this.signal = signal;
  }

  /**
   * Opens the file for reads that never wait (O_NONBLOCK).
   *
   * @param onMissing - called whenever there is no file
   * @returns undefined once the signal came
   * @throws SourceError
   */
  async openWhenThere(onMissing: () => void): Promise<FileHandle | undefined> {
    while (!this.signal.aborted) {
      try {
        return await open(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
      } catch (error) {
        if (!isMissing(error)) throw this.unreadable(error);
      }
      onMissing();
      await this.pause(FOLLOW_INTERVAL_MS);
    }
    return undefined;
  }

  /** @returns undefined if there is no file. @throws SourceError */
  async stat(): Promise<BigIntStats | undefined> {
    try {
      return await stat(this.path, {bigint: true});
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw this.unreadable(error);
    }
  }

  /** Ends early at the signal. */
  async pause(ms: number): Promise<void> {
    await delay(ms, undefined, {signal: this.signal}).catch(() => undefined);
  }

  private unreadable(error: unknown): SourceError {
    return new SourceError(`cannot read ${this.path}: ${(error as Error).message}`, {cause: error});
  }
}

/** Are both the same file, whatever its path? */
export function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}
