/**
 * An input as a stream of chunks: a file, a pipe or standard input (`-`), unpacked if it is gzip, whatever its name.
 */
import {constants, createReadStream, fstatSync} from "node:fs";
import {type FileHandle, open, stat} from "node:fs/promises";
import {Socket} from "node:net";
import {type Readable, Transform} from "node:stream";
import {pipeline} from "node:stream/promises";
import {setTimeout as delay} from "node:timers/promises";
import {isatty, ReadStream} from "node:tty";
import {createGunzip} from "node:zlib";
import {SourceError} from "./sourceBlock.ts";

/** How often a file that is followed is looked at for more. */
const FOLLOW_INTERVAL_MS = 100;
const STANDARD_INPUT = 0;

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

/**
 * A pipe may be silent for ever, and a thread that waits in read(2) can be neither stopped nor joined: pipes,
 * sockets and terminals are polled by the event loop instead.
 */
async function* readPipe(path: string, {signal}: InputOptions): AsyncGenerator<Uint8Array> {
  const stream = path === "-" ? openStandardInput() : await openPipe(path);
  const stop = (): void => void stream.destroy();
  signal.addEventListener("abort", stop);
  try {
    if (!signal.aborted) for await (const chunk of stream) yield chunk;
  } catch (error) {
    if (!signal.aborted)
      throw new SourceError(`cannot read ${path}: ${(error as Error).message}`, {cause: error});
  } finally {
    signal.removeEventListener("abort", stop);
    stream.destroy();
  }
}

function openStandardInput(): Readable {
  const kind = fstatSync(STANDARD_INPUT);
  if (kind.isFIFO() || kind.isSocket())
    return new Socket({fd: STANDARD_INPUT, readable: true, writable: false});
  if (isatty(STANDARD_INPUT)) return new ReadStream(STANDARD_INPUT);
  // A file redirected, or /dev/null.
  return createReadStream("", {fd: STANDARD_INPUT, autoClose: false});
}

/** Opening a pipe must not wait for its writer. */
async function openPipe(path: string): Promise<Readable> {
  const file = await openOrThrow(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await file.stat()).isFIFO()) return file.createReadStream();
  // Kept open by the socket from here on.
  return new Socket({fd: file.fd, readable: true, writable: false}).on(
    "close",
    () => void file.close().catch(() => {}),
  );
}

async function openOrThrow(path: string, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    throw new SourceError(`cannot read ${path}: ${(error as Error).message}`, {cause: error});
  }
}

/** Passes chunks on, or unpacks them if the first two bytes are gzip's. */
async function* unpacked(
  path: string,
  chunks: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const ahead: Uint8Array[] = [];
  let first = Buffer.alloc(0);
  for (let next = await chunks.next(); ; next = await chunks.next()) {
    if (next.done === true) break;
    ahead.push(next.value);
    first = Buffer.concat([first, next.value.subarray(0, 2)]);
    if (first.length >= 2) break;
  }
  const all = (async function* () {
    yield* ahead;
    yield* chunks;
  })();
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    yield* all;
    return;
  }
  const out = new Transform({transform: (chunk, _encoding, done) => done(null, chunk)});
  const unpacking = pipeline(all, createGunzip(), out, {signal}).catch(error => out.destroy(error));
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
