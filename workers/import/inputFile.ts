/**
 * An input as a stream of chunks: a file, a pipe or standard input (`-`), unpacked if it is gzip, whatever its name.
 */
import {constants} from "node:fs";
import {type FileHandle, open, stat} from "node:fs/promises";
import type {Readable} from "node:stream";
import {setTimeout as delay} from "node:timers/promises";
import {openFifo, openStandardInput, readStream} from "./pipe.ts";
import {SourceError} from "./sourceBlock.ts";
import {unpacked} from "./unpacked.ts";

/** How often a file that is followed is looked at for more. */
const FOLLOW_INTERVAL_MS = 100;

export interface InputFile {
  /** Once. @throws SourceError if the input cannot be read, is cut short or does not unpack */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Size of the file as it is on disk; null: not known. */
  readonly bytesTotal: number | null;
  /** Bytes taken from the file so far, packed ones if it is gzip. */
  bytesRead(): number;
}

export interface InputOptions {
  /** Wait for more at the end of a regular file, until `signal`. */
  readonly follow: boolean;
  /** Read at once. `bytesRead` is ahead of the work by up to so many. */
  readonly chunkBytes: number;
  /** Ends the stream, as if the input ended there. */
  readonly signal: AbortSignal;
}

/** @param path - `-` is standard input */
export async function openInput(path: string, options: InputOptions): Promise<InputFile> {
  const {follow, signal} = options;
  let bytesRead = 0;
  const isFile = path !== "-" && (await statOrThrow(path)).isFile();
  const raw = isFile ? readFile(path, options) : readPipe(path, options);
  const counted = (async function* () {
    for await (const chunk of raw) {
      bytesRead += chunk.length;
      yield chunk;
    }
  })();
  return {
    chunks: unpacked(path, counted, signal),
    bytesTotal: isFile && !follow ? (await stat(path)).size : null,
    bytesRead: () => bytesRead,
  };
}

async function statOrThrow(path: string): ReturnType<typeof stat> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new SourceError(`${path} is a directory`);
    return found;
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`cannot read ${path}: ${(error as Error).message}`, {cause: error});
  }
}

/** Reads of regular files do not wait for anyone. */
async function* readFile(
  path: string,
  {follow, chunkBytes, signal}: InputOptions,
): AsyncGenerator<Uint8Array> {
  const file = await openOrThrow(path, constants.O_RDONLY);
  try {
    let position = 0;
    while (!signal.aborted) {
      const {bytesRead, buffer} = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
      position += bytesRead;
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      else if (!follow) return;
      else if ((await file.stat()).size < position)
        throw new SourceError(`${path} became shorter while it was followed`);
      else await delay(FOLLOW_INTERVAL_MS, undefined, {signal}).catch(() => undefined);
    }
  } finally {
    await file.close();
  }
}

/** Pipes, sockets and devices. */
async function* readPipe(path: string, {signal}: InputOptions): AsyncGenerator<Uint8Array> {
  yield* readStream(path, path === "-" ? openStandardInput() : await openPipe(path), signal);
}

async function openPipe(path: string): Promise<Readable> {
  if ((await statOrThrow(path)).isFIFO()) return openFifo(path);
  // The stream owns the handle.
  return (await openOrThrow(path, constants.O_RDONLY | constants.O_NONBLOCK)).createReadStream();
}

async function openOrThrow(path: string, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    throw new SourceError(`cannot read ${path}: ${(error as Error).message}`, {cause: error});
  }
}
