/** Reads a file, a pipe or standard input (`-`) as a stream of chunks, and unpacks gzip, whatever the name. */
import {constants, type Stats} from "node:fs";
import {open, stat} from "node:fs/promises";
import {type Readable, Transform} from "node:stream";
import {pipeline} from "node:stream/promises";
import {createGunzip} from "node:zlib";
import {kindOf} from "../../storage/regularFile.ts";
import {SettingsFault, SourceError, Stopped} from "../blocks/sourceStep.ts";
import {openFifo, openStandardInput, unreadable} from "./pipe.ts";

const WHOLE_CHUNK_BYTES = 256 << 10;
/** Larger genesis files do not fit a string of V8. */
const MAX_WHOLE_BYTES = 480 << 20;

/** How much of a file was read, in bytes on disk, also of gzip. */
export interface InputProgress {
  bytesRead: number;
  /** undefined: unknown. */
  bytesTotal: number | undefined;
}

interface InputOptions {
  /** Size of one read. `progress.bytesRead` may be ahead of the work by as much. */
  readonly chunkBytes: number;
  readonly signal: AbortSignal;
  readonly progress: InputProgress | undefined;
}

/** Read it once. It throws SourceError if the input cannot be read, is truncated, or does not unpack. */
export async function openInput(path: string, options: InputOptions): Promise<AsyncIterable<Uint8Array>> {
  const {signal, progress} = options;
  const file = path === "-" ? undefined : await statOrThrow(path);
  if (progress !== undefined && file?.isFile() === true) progress.bytesTotal = file.size;
  return unpacked(path, readChunks(path, options), signal);
}

export async function readGenesis(path: string, signal: AbortSignal): Promise<string> {
  return (await readWhole(path, signal)).toString();
}

/** @throws SourceError, also for a pipe; Stopped if the signal came before the end */
export async function readWhole(path: string, signal: AbortSignal): Promise<Buffer> {
  await statOrThrow(path, false);
  const chunks = await openInput(path, {chunkBytes: WHOLE_CHUNK_BYTES, signal, progress: undefined});
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_WHOLE_BYTES) throw new SettingsFault(`${path} is longer than ${MAX_WHOLE_BYTES} bytes`);
  }
  if (signal.aborted) throw new Stopped();
  return Buffer.concat(parts);
}

async function statOrThrow(path: string, takesPipe = true): Promise<Stats> {
  try {
    const found = await stat(path);
    if (found.isFile() || (takesPipe && found.isFIFO())) return found;
    throw new SettingsFault(`${path}: expected a file${takesPipe ? " or a pipe" : ""}, got ${kindOf(found)}`);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw unreadable(path, error);
  }
}

/** Opens the file with the first chunk. The signal ends it early, as if the input ended there. */
async function* readChunks(
  path: string,
  {chunkBytes, signal, progress}: InputOptions,
): AsyncGenerator<Uint8Array> {
  const stream = await openStream(path, chunkBytes);
  const stop = (): void => void stream.destroy();
  signal.addEventListener("abort", stop);
  try {
    // It may have come while the stream was opened.
    if (signal.aborted) return;
    for await (const chunk of stream) {
      if (progress !== undefined) progress.bytesRead += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (!signal.aborted) throw unreadable(path, error);
  } finally {
    signal.removeEventListener("abort", stop);
    stream.destroy();
  }
}

/** Does not wait for a writer, even if the file has become a pipe. */
async function openStream(path: string, chunkBytes: number): Promise<Readable> {
  if (path === "-") return openStandardInput();
  if ((await statOrThrow(path)).isFIFO()) return openFifo(path);
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    // The stream owns the handle.
    return file.createReadStream({highWaterMark: chunkBytes});
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Passes chunks on, unpacked if the first two bytes are gzip's. Closes `chunks` in the end. */
async function* unpacked(
  path: string,
  chunks: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    let ahead = Buffer.alloc(0);
    while (ahead.length < 2) {
      const next = await chunks.next();
      if (next.done === true) break;
      ahead = Buffer.concat([ahead, next.value]);
    }
    const all = (async function* () {
      yield ahead;
      yield* chunks;
    })();
    if (ahead[0] === 0x1f && ahead[1] === 0x8b) yield* gunzip(path, all, signal);
    else yield* all;
  } finally {
    // A caller that stops within `ahead` never reaches the rest of `chunks`, whose file would stay open.
    await chunks.return(undefined);
  }
}

async function* gunzip(
  path: string,
  packed: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const out = new Transform({transform: (chunk, _encoding, done) => done(undefined, chunk)});
  const unpacking = pipeline(packed, createGunzip(), out, {signal}).catch(error => out.destroy(error));
  try {
    yield* out;
  } catch (error) {
    if (!signal.aborted)
      throw new SourceError(`${path} does not unpack: ${(error as Error).message}`, {cause: error});
  } finally {
    out.destroy();
    await unpacking;
  }
}
