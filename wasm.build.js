/** Compiles the AssemblyScript files: <folder>/wasm/<name>.ts becomes dist/<folder>/<name>.wasm. Run by `npm run build`. */
import {readdirSync} from "node:fs";
import {basename, dirname, join} from "node:path";
import {main} from "assemblyscript/asc";

const FOLDERS = ["storage", "workers"];
/** 64 KiB each. */
const MEMORY_PAGES = "4";

for (const folder of FOLDERS)
  for (const name of readdirSync(folder, {recursive: true})) {
    const source = join(folder, name);
    if (basename(dirname(source)) !== "wasm" || !source.endsWith(".ts")) continue;
    const out = join("dist", dirname(source), "..", `${basename(source, ".ts")}.wasm`);
    const {error, stderr} = await main([
      ...[source, "--outFile", out, "--runtime", "stub", "--noAssert", "--optimizeLevel", "3"],
      ...["--enable", "simd,bulk-memory", "--initialMemory", MEMORY_PAGES, "--maximumMemory", MEMORY_PAGES],
    ]);
    if (error) throw new Error(`${source}: ${error.message}\n${stderr.toString()}`);
  }
