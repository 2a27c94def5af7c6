/**
 * Compiles the AssemblyScript of folders named wasm. Run by `npm run build`.
 *
 *   <folder>/wasm/main.ts     dist/<folder>/<name of folder>.wasm     the other files there are parts of it
 *   <folder>/wasm/<name>.ts   dist/<folder>/<name>.wasm               where there is no main.ts
 */
import {existsSync, readdirSync} from "node:fs";
import {basename, dirname, join} from "node:path";
import {main} from "assemblyscript/asc";

const FOLDERS = ["storage", "evm", "workers"];
/** Pages of 64 KiB: of a new instance, and the most that it may grow to. */
const MEMORY = {interpreter: {initial: 0x1824, maximum: 0x2c00}, trie: {initial: 19, maximum: 640}};
const SMALL_MEMORY = {initial: 4, maximum: 4};

for (const folder of FOLDERS)
  for (const name of readdirSync(folder, {recursive: true})) {
    const source = join(folder, name);
    const home = dirname(source);
    if (basename(home) !== "wasm" || !source.endsWith(".ts")) continue;
    const isWhole = existsSync(join(home, "main.ts"));
    if (isWhole && basename(source) !== "main.ts") continue;
    const module = isWhole ? basename(dirname(home)) : basename(source, ".ts");
    const {initial, maximum} = MEMORY[module] ?? SMALL_MEMORY;
    const options = [
      ...[source, "--outFile", join("dist", home, "..", `${module}.wasm`)],
      ...["--runtime", "stub", "--noAssert", "--optimizeLevel", "3", "--enable", "simd,bulk-memory"],
      ...["--initialMemory", `${initial}`, "--maximumMemory", `${maximum}`],
    ];
    const {error, stderr} = await main(options);
    if (error) throw new Error(`${source}: ${error.message}\n${stderr.toString()}`);
  }
