/**
 * `control.json` in the store's folder says where the process that has the store open accepts commands.
 *
 *   {"pid": 4711, "port": 40123, "token": "<64 hex digits>"}
 *
 * Only the folder's owner can read it (mode 0600). A command must carry the token. After kill -9, or on a disk that
 * takes no writes, the file stays behind: then nothing listens on its port, or a program that does not know the token.
 */
import {rename, rm, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {readWholeFile} from "../../../storage/regularFile.ts";
import {parseFields} from "./blockCommand.ts";

const FILE_NAME = "control.json";
const TOKEN = /^[0-9a-f]{64}$/;

interface ControlAddress {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
}

/** Replaces the file atomically. No other process writes it, since this one has the store open. */
export async function writeControlFile(directory: string, address: ControlAddress): Promise<void> {
  const path = join(directory, FILE_NAME);
  const draft = `${path}.new`;
  await rm(draft, {force: true});
  await writeFile(draft, `${JSON.stringify(address)}\n`, {flag: "wx", mode: 0o600});
  await rename(draft, path);
}

/** Never rejects: a failing disk must not keep the ending process from closing the store. */
export async function removeControlFile(directory: string): Promise<void> {
  await rm(join(directory, FILE_NAME), {force: true}).catch(() => {});
}

/** @returns undefined if there is no file, or it has another format */
export function readControlFile(directory: string): ControlAddress | undefined {
  const path = join(directory, FILE_NAME);
  let text = "";
  try {
    text = readWholeFile(path).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const {pid, port, token} = parseFields(text);
  if (typeof pid !== "number" || typeof port !== "number") return undefined;
  return typeof token === "string" && TOKEN.test(token) ? {pid, port, token} : undefined;
}
