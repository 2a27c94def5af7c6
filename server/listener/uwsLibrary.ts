/**
 * Loads uWebSockets.js. No other file does: where it has no binary, that fails. It is looked for in this order:
 *
 *   uws_linux_x64_127.node       next to this file: the container image has it
 *   uws_linux_x64_127.node.br    next to this file: the package of proofd has it (uws.build.js)
 *   node_modules/uWebSockets.js  a clone
 */
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {brotliDecompressSync} from "node:zlib";

export type UwsLibrary = typeof import("uWebSockets.js");

const {platform, arch, versions} = process;
const BINARY = fileURLToPath(new URL(`uws_${platform}_${arch}_${versions.modules}.node`, import.meta.url));

/** @throws Error if there is no binary for this platform and this version of Node, or it does not load */
export async function loadUws(): Promise<UwsLibrary> {
  const require = createRequire(import.meta.url);
  if (existsSync(BINARY)) return require(BINARY);
  if (!existsSync(`${BINARY}.br`)) return import("uWebSockets.js");
  // Node loads a binary from a file only. Once it is loaded, the file may go.
  const folder = mkdtempSync(join(tmpdir(), "proofd-uws-"));
  try {
    const path = join(folder, "uws.node");
    writeFileSync(path, brotliDecompressSync(readFileSync(`${BINARY}.br`)));
    return require(path);
  } finally {
    rmSync(folder, {recursive: true});
  }
}
