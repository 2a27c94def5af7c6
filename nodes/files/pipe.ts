/**
 * Pipes, sockets and terminals, as streams that the event loop polls: a pipe may be silent for ever, and a thread that
 * waits in read(2) can be neither stopped nor joined.
 *
 * Every descriptor has one owner, which closes it once. After that, its number may belong to LevelDB's log or a socket.
 */
import {closeSync, constants, createReadStream, fstatSync, openSync} from "node:fs";
import {Socket} from "node:net";
import type {Readable} from "node:stream";
import {isatty, ReadStream} from "node:tty";
import {SettingsFault, SourceError} from "../blocks/sourceStep.ts";

const STANDARD_INPUT = 0;

/**
 * libuv never closes the descriptors 0 to 2, and Node opens /dev/null if they are not open at start, so no other file
 * can get the number 0.
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
 * Does not wait for a writer. The socket owns the descriptor. A worker thread must not close "unmanaged" descriptors
 * when it ends (threads/importThread.ts), since Node never learns that a socket closed one.
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

/** @returns a SettingsFault if the file does not exist, or this user may not read it */
export function unreadable(path: string, error: unknown): SourceError {
  const {code = "", message} = error as NodeJS.ErrnoException;
  const Kind = ["ENOENT", "ENOTDIR", "EACCES"].includes(code) ? SettingsFault : SourceError;
  return new Kind(`cannot read ${path}: ${message}`, {cause: error});
}
