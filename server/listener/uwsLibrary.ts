/**
 * Loads uWebSockets.js. No other file does: where it has no binary, that fails. A binary is looked for in this order:
 *
 *   uws_20.57.0_linux_x64_127.node   next to this file: the container image has it
 *   uws_20.57.0_linux_x64.br         next to this file: the package of proofd has it (uws.build.js)
 *   node_modules                     a clone
 */
import {createHash} from "node:crypto";
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {brotliDecompressSync} from "node:zlib";
import {UWS_BINARIES, type UwsBinary} from "./uwsBinaries.ts";

export type UwsLibrary = typeof import("uWebSockets.js");

/** uWebSockets.js cannot serve as the operator asked for. A restart does not help. */
export class UwsRefused extends Error {}

/** Its bytes are not those that this version of proofd knows. It was not loaded. */
export class BinaryChanged extends UwsRefused {}

const require = createRequire(import.meta.url);

/** @throws BinaryChanged; Error if no binary loads on this platform with this version of Node */
export function loadUws(): UwsLibrary {
  const {platform, arch, version} = process;
  let failure: Error | undefined;
  for (const binary of UWS_BINARIES)
    if (binary.fits(process)) {
      try {
        return loadBinary(binary);
      } catch (error) {
        if (error instanceof BinaryChanged) throw error;
        failure ??= error as Error;
      }
    }
  throw failure ?? new Error(`it has no binary for Node ${version} on ${platform} ${arch}`);
}

function loadBinary(binary: UwsBinary): UwsLibrary {
  const own = fileURLToPath(new URL(binary.name, import.meta.url));
  const packed = fileURLToPath(new URL(binary.pack, import.meta.url));
  if (existsSync(own) || !existsSync(packed)) {
    const clone = fileURLToPath(new URL(`../../../node_modules/${binary.source}`, import.meta.url));
    const path = existsSync(own) ? own : clone;
    checkBytes(binary, path, readFileSync(path));
    return require(path);
  }
  const bytes = unpack(packed, binary);
  checkBytes(binary, packed, bytes);
  // Node loads a binary from a file only. Once it is loaded, the file may go.
  const folder = mkdtempSync(join(tmpdir(), "proofd-uws-"));
  try {
    const path = join(folder, "uws.node");
    writeFileSync(path, bytes);
    return require(path);
  } finally {
    rmSync(folder, {recursive: true});
  }
}

function unpack(path: string, binary: UwsBinary): Uint8Array {
  const packed = readFileSync(path);
  try {
    const mates = UWS_BINARIES.filter(({pack}) => pack === binary.pack);
    const before = mates.slice(0, mates.indexOf(binary)).reduce((sum, {bytes}) => sum + bytes, 0);
    return brotliDecompressSync(packed).subarray(before, before + binary.bytes);
  } catch (error) {
    throw new BinaryChanged(`${path} was changed: ${(error as Error).message}. Install proofd again`);
  }
}

function checkBytes({sha256}: UwsBinary, path: string, bytes: Uint8Array): void {
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== sha256)
    throw new BinaryChanged(
      `${path} was changed: expected SHA-256 ${sha256}, got ${found}. Install proofd again`,
    );
}
