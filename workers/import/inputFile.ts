/**
 * Reads a file, a pipe or standard input (`-`) from start to end, as a stream of chunks. gzip is unpacked, whatever the name.
 */
import {constants} from "node:fs";
import {type FileHandle, open, stat} from "node:fs/promises";
import type {Readable} from "node:stream";
import {openFifo, openStandardInput, readStream} from "./pipe.ts";
import type {SourceProgress} from "./sourceHost.ts";
import {SettingsFault, SourceError, Stopped} from "./sourceStep.ts";
import {unpacked} from "./unpacked.ts";

const GENESIS_CHUNK_BYTES = 256 << 10;
/** Larger genesis files do not fit a string of V8. */
const MAX_GENESIS_BYTES = 480 << 20;

interface InputOptions {
  /** Size of one read. `progress.bytesRead` may be ahead of the work by as much. */
  readonly chunkBytes: number;
  readonly signal: AbortSignal;
  /** undefined: nobody asks. */
  readonly progress: SourceProgress | undefined;
}

/**
 * @param path - `-` is standard input
 * @returns read it once. It throws SourceError if the input cannot be read, is cut short or does not unpack
 */
export async function openInput(path: string, options: InputOptions): Promise<AsyncIterable<Uint8Array>> {
  const {signal, progress} = options;
  const isFile = path !== "-" && (await statOrThrow(path)).isFile();
  if (progress !== undefined && isFile) progress.bytesTotal = (await stat(path)).size;
  const raw = isFile ? readFile(path, options) : readPipe(path, options);
  const counted = (async function* () {
    for await (const chunk of raw) {
      if (progress !== undefined) progress.bytesRead += chunk.length;
      yield chunk;
    }
  })();
  return unpacked(path, counted, signal);
}

/** Reads a genesis file, plain or .gz. @throws SourceError; Stopped if the signal came before the end */
export async function readGenesis(path: string, signal: AbortSignal): Promise<string> {
  const chunks = await openInput(path, {chunkBytes: GENESIS_CHUNK_BYTES, signal, progress: undefined});
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_GENESIS_BYTES)
      throw new SettingsFault(`${path} is longer than ${MAX_GENESIS_BYTES} bytes`);
  }
  if (signal.aborted) throw new Stopped();
  return Buffer.concat(parts).toString();
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

/** Regular files only: their reads never wait for a writer. */
async function* readFile(path: string, {chunkBytes, signal}: InputOptions): AsyncGenerator<Uint8Array> {
  const file = await openOrThrow(path);
  try {
    let position = 0;
    while (!signal.aborted) {
      const {bytesRead, buffer} = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
      position += bytesRead;
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
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
  return (await openOrThrow(path)).createReadStream();
}

/** Never waits for a writer, whatever kind of file is there by now. */
async function openOrThrow(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new SourceError(`cannot read ${path}: ${(error as Error).message}`, {cause: error});
  }
}
