/**
 * Preloaded (--import) into a process whose closes are watched. Writes each failed close of node:fs to the file
 * CLOSE_RECORD. It does not see what libuv closes by itself, such as sockets. strace does.
 */
import fs from "node:fs";
import {syncBuiltinESMExports} from "node:module";

const record = process.env.CLOSE_RECORD as string;
const {appendFileSync, close, closeSync, promises} = fs;
const {open} = promises;

function note(error: unknown, what: string): void {
  if ((error as NodeJS.ErrnoException | null)?.code === "EBADF") appendFileSync(record, `${what} EBADF\n`);
}

fs.close = ((fd: number, done: fs.NoParamCallback = () => {}) =>
  close(fd, error => {
    note(error, `close(${fd})`);
    done(error);
  })) as typeof fs.close;

fs.closeSync = fd => {
  try {
    closeSync(fd);
  } catch (error) {
    note(error, `closeSync(${fd})`);
    throw error;
  }
};

promises.open = async (...args) => {
  const file = await open(...args);
  const {fd, close: closeFile} = file;
  file.close = () => {
    const closing = closeFile();
    closing.catch(error => note(error, `FileHandle.close(${fd})`));
    return closing;
  };
  return file;
};

syncBuiltinESMExports();
