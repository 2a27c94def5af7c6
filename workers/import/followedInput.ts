/**
 * An input that keeps growing. It comes in segments. Each begins with the start of a line.
 *
 *   file       as it grows, until another file stands at its path (log rotation) or it became shorter (copy and truncate)
 *   FIFO       what its writers write until the last of them closes it
 *   -          standard input; the only segment
 *
 * A segment may repeat lines of an earlier one. The caller recognises blocks that are in the store already.
 */
import type {BigIntStats} from "node:fs";
import type {FileHandle} from "node:fs/promises";
import type {SourceEvent} from "../job/importSource.ts";
import {FOLLOW_INTERVAL_MS, FollowedPath, isSame} from "./followedPath.ts";
import type {InputOptions} from "./inputFile.ts";
import {openStandardInput, readStream} from "./pipe.ts";
import {SourceError} from "./sourceBlock.ts";
import {SourceWatch} from "./sourceWatch.ts";
import {unpacked} from "./unpacked.ts";

/** How often to read a FIFO: less often the longer it gives nothing. Takes 0.2 % of a core at most. */
const MIN_FIFO_INTERVAL_MS = 1;
const MAX_FIFO_INTERVAL_MS = 32;
/** How often a FIFO without a writer is compared with the file at its path. */
const LOOK_INTERVAL_MS = 1000;

export interface Segment {
  /** Read once, before the next segment. @throws SourceError */
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly kind: "file" | "fifo" | "once";
}

export class FollowedInput {
  readonly watch: SourceWatch;
  readonly bytesTotal = undefined;
  private readonly path: FollowedPath;
  private readonly options: InputOptions;
  private bytes = 0;

  /** @param path - `-` is standard input */
  constructor(path: string, options: InputOptions, onEvent: (event: SourceEvent) => void) {
    this.path = new FollowedPath(path, options.signal);
    this.options = options;
    this.watch = new SourceWatch(onEvent);
  }

  bytesRead(): number {
    return this.bytes;
  }

  /** Yields segments until the signal, or until an input that cannot grow ends. @throws SourceError */
  async *segments(): AsyncGenerator<Segment> {
    const {watch} = this;
    const {path} = this.path;
    const {signal} = this.options;
    let file: FileHandle | undefined;
    try {
      if (path === "-") {
        yield this.segment("once", readStream(path, openStandardInput(), signal));
        return;
      }
      for (;;) {
        const next = await this.path.openWhenThere(() => watch.set("waiting"));
        // Not earlier: a FIFO without a reader breaks its writer's pipe.
        await file?.close();
        file = next;
        if (file === undefined) return;
        const opened = await file.stat({bigint: true});
        if (opened.isDirectory()) throw new SourceError(`${path} is a directory`);
        watch.set(opened.isFIFO() ? "waiting" : "reading");
        if (opened.isFile()) yield this.segment("file", this.readFile(file, opened));
        else if (opened.isFIFO()) yield this.segment("fifo", this.readFifo(file, opened));
        else {
          yield this.segment("once", readStream(path, file.createReadStream(), signal));
          return;
        }
      }
    } finally {
      watch.close();
      await file?.close();
    }
  }

  private segment(kind: Segment["kind"], raw: AsyncGenerator<Uint8Array>): Segment {
    return {kind, chunks: unpacked(this.path.path, this.counted(raw), this.options.signal)};
  }

  private async *counted(raw: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of raw) {
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  private async *readFile(file: FileHandle, opened: BigIntStats): AsyncGenerator<Uint8Array> {
    const {chunkBytes, signal} = this.options;
    let position = 0;
    let isReplaced = false;
    while (!signal.aborted) {
      const {bytesRead, buffer} = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
      position += bytesRead;
      if (bytesRead > 0) {
        yield buffer.subarray(0, bytesRead);
        continue;
      }
      if ((await file.stat()).size < position) {
        this.watch.tell("truncated");
        return;
      }
      if (isReplaced) {
        this.watch.tell("replaced");
        return;
      }
      const there = await this.path.stat();
      // Nobody has written to an empty new file yet, so the writer may still use the old one. Once the new file counts, the
      // old one is read once more, because its writer may have used it until just now.
      isReplaced = there !== undefined && !isSame(there, opened) && !(there.isFile() && there.size === 0n);
      if (isReplaced) continue;
      this.watch.set(there === undefined ? "waiting" : "following");
      await this.path.pause(FOLLOW_INTERVAL_MS);
    }
  }

  /**
   * Polls, because only read(2) reports an end reliably. The event loop does not see a writer that came and went before the
   * descriptor was opened again. Reads never wait (O_NONBLOCK).
   */
  private async *readFifo(file: FileHandle, opened: BigIntStats): AsyncGenerator<Uint8Array> {
    const {chunkBytes, signal} = this.options;
    let buffer = Buffer.allocUnsafe(chunkBytes);
    let hasWriter = false;
    let hasBytes = false;
    let pauseMs = MIN_FIFO_INTERVAL_MS;
    let lookMs = performance.now() + LOOK_INTERVAL_MS;
    while (!signal.aborted) {
      const bytesRead = await readNow(file, buffer);
      if (bytesRead === 0) {
        if (hasBytes) {
          this.watch.tell("writer_left");
          return;
        }
        hasWriter = false;
        this.watch.set("waiting");
        // A FIFO that was replaced has no writer any more.
        if (performance.now() > lookMs) {
          const there = await this.path.stat();
          if (there === undefined) return;
          if (!isSame(there, opened)) {
            this.watch.tell("replaced");
            return;
          }
          lookMs = performance.now() + LOOK_INTERVAL_MS;
        }
      } else if (!hasWriter) {
        hasWriter = true;
        this.watch.set("reading");
      }
      if (bytesRead > 0) {
        hasBytes = true;
        pauseMs = MIN_FIFO_INTERVAL_MS;
        yield buffer.subarray(0, bytesRead);
        buffer = Buffer.allocUnsafe(chunkBytes);
      } else {
        await this.path.pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, MAX_FIFO_INTERVAL_MS);
      }
    }
  }
}

/** @returns bytes read; 0: there is no writer; -1: there is a writer, but nothing to read */
async function readNow(fifo: FileHandle, buffer: Buffer): Promise<number> {
  try {
    return (await fifo.read(buffer, 0, buffer.length)).bytesRead;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return -1;
    throw error;
  }
}
