/**
 * Reads a file, a pipe or standard input (`-`) as a stream of chunks, and unpacks gzip, whatever the name.
 *
 * Pipes, sockets and terminals are polled by the event loop: a pipe may be silent for ever, and a thread that waits in
 * read(2) can be neither stopped nor joined. Every descriptor has one owner, which closes it once. After that, its
 * number may belong to LevelDB's log or a socket.
 */
import {closeSync, constants, createReadStream, fstatSync, openSync, type Stats} from "node:fs";
import {open, stat} from "node:fs/promises";
import {Socket} from "node:net";
import {type Readable, Transform} from "node:stream";
import {pipeline} from "node:stream/promises";
import {isatty, ReadStream} from "node:tty";
import {createGunzip} from "node:zlib";
import {kindOf} from "../../storage/regularFile.ts";
import {SettingsFault, SourceError, Stopped} from "../blocks/sourceStep.ts";

const STANDARD_INPUT = 0;
const WHOLE_CHUNK_BYTES = 256 << 10;
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
  readonly progress?: InputProgress;
  /** Default: true, also `-`. */
  readonly takesPipe?: boolean;
}

/** Read it once. It throws SourceError if the input cannot be read, is truncated, or does not unpack. */
export async function openInput(path: string, options: InputOptions): Promise<AsyncIterable<Uint8Array>> {
  const {signal, progress, takesPipe} = options;
  const file = path === "-" && takesPipe !== false ? undefined : await statOrThrow(path, takesPipe);
  if (progress !== undefined && file?.isFile() === true) progress.bytesTotal = file.size;
  return unpacked(path, readChunks(path, options), signal);
}

/** @throws SourceError, also for a pipe; Stopped if the signal came before the end */
export async function readWhole(path: string, signal: AbortSignal): Promise<Buffer> {
  const chunks = await openInput(path, {chunkBytes: WHOLE_CHUNK_BYTES, signal, takesPipe: false});
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

/** libuv never closes the descriptors 0 to 2, which Node opens at start, so no other file can get the number 0. */
function openStandardInput(): Readable {
  const kind = fstatSync(STANDARD_INPUT);
  if (kind.isFIFO() || kind.isSocket())
    return new Socket({fd: STANDARD_INPUT, readable: true, writable: false});
  if (isatty(STANDARD_INPUT)) return new ReadStream(STANDARD_INPUT);
  // A redirected file, or /dev/null.
  return createReadStream("", {fd: STANDARD_INPUT, autoClose: false});
}

/**
 * Does not wait for a writer. The socket owns the descriptor. A worker thread must not close "unmanaged" descriptors
 * when it ends (workers/engine.ts), since Node never learns that a socket closed one.
 */
function openFifo(path: string): Socket {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return new Socket({fd, readable: true, writable: false});
  } catch (error) {
    // If the constructor threw, the socket has not taken the descriptor.
    if (fd !== undefined) closeSync(fd);
    throw unreadable(path, error);
  }
}

/** @returns a SettingsFault if the file does not exist, or this user may not read it */
function unreadable(path: string, error: unknown): SourceError {
  const {code = "", message} = error as NodeJS.ErrnoException;
  const Kind = ["ENOENT", "ENOTDIR", "EACCES"].includes(code) ? SettingsFault : SourceError;
  return new Kind(`cannot read ${path}: ${message}`, {cause: error});
}
