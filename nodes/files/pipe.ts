/**
 * Pipes, sockets and terminals, as streams that the event loop polls: a pipe may be silent for ever, and a thread that
 * waits in read(2) can be neither stopped nor joined.
 *
 * Every descriptor has one owner, which closes it once. A number that is closed a second time may belong to LevelDB's
 * log or to a client's socket by then.
 */
import {closeSync, constants, createReadStream, fstatSync, openSync} from "node:fs";
import {Socket} from "node:net";
import type {Readable} from "node:stream";
import {isatty, ReadStream} from "node:tty";
import {SettingsFault, SourceError} from "../blocks/sourceStep.ts";

const STANDARD_INPUT = 0;

/**
 * The process owns descriptor 0 as long as it lives: libuv leaves 0 to 2 open when a stream on them is closed, and Node
 * opens /dev/null in their place if they are not open at start. So no file can ever get the number 0.
 */
export function openStandardInput(): Readable {
  const kind = fstatSync(STANDARD_INPUT);
  if (kind.isFIFO() || kind.isSocket())
    return new Socket({fd: STANDARD_INPUT, readable: true, writable: false});
  if (isatty(STANDARD_INPUT)) return new ReadStream(STANDARD_INPUT);
  // A redirected file, or /dev/null.
  return createReadStream("", {fd: STANDARD_INPUT, autoClose: false});
}

/**
 * Does not wait for a writer. The socket owns the descriptor, so no FileHandle may have it. A worker thread must not close
 * "unmanaged" descriptors when it ends (threads/importThread.ts), since Node never learns that a socket closed one.
 *
 * @throws SourceError, also if `path` is no pipe
 */
export function openFifo(path: string): Socket {
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

/** @returns a SettingsFault if the operator has named no file, or one that this user may not read */
export function unreadable(path: string, error: unknown): SourceError {
  const {code = "", message} = error as NodeJS.ErrnoException;
  const Kind = ["ENOENT", "ENOTDIR", "EACCES"].includes(code) ? SettingsFault : SourceError;
  return new Kind(`cannot read ${path}: ${message}`, {cause: error});
}
