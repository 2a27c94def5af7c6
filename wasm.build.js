/**
 * Compiles the AssemblyScript of folders named wasm. Run by `npm run build`.
 *
 *   <folder>/wasm/main.ts     dist/<folder>/<name of folder>.wasm     the other files there are parts of it
 *   <folder>/wasm/<name>.ts   dist/<folder>/<name>.wasm               where there is no main.ts
 *
 * What a module exports is declared beside it, in dist/types/<folder>/<name>.wasm.d.ts: the `rootDirs` of tsconfig.json
 * let the files of <folder> import that as "./<name>.wasm.d.ts".
 */
import {existsSync, mkdirSync, readdirSync, writeFileSync} from "node:fs";
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
      ...[source, "--outFile", `${module}.wasm`, "--bindings", "raw"],
      ...["--runtime", "stub", "--noAssert", "--optimizeLevel", "3", "--enable", "simd,bulk-memory"],
      ...["--initialMemory", `${initial}`, "--maximumMemory", `${maximum}`],
    ];
    const writeFile = (file, contents) => {
      if (file.endsWith(".wasm")) write(join("dist", dirname(home), file), contents);
      if (file.endsWith(".d.ts"))
        write(join("dist/types", dirname(home), `${module}.wasm.d.ts`), declare(contents));
    };
    const {error, stderr} = await main(options, {writeFile});
    if (error) throw new Error(`${source}: ${error.message}\n${stderr.toString()}`);
  }

function write(path, contents) {
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, contents);
}

/**
 * @param bindings - declare the exports as a namespace, and a function that loads the module. That one would make booleans
 *   of results; `loadWasm` leaves numbers
 */
function declare(bindings) {
  const namespace = bindings.slice(0, bindings.indexOf("\n}\n") + 3);
  const exact = namespace
    .replace("WebAssembly.Memory", "{readonly buffer: ArrayBuffer}")
    .replaceAll(/(\): |get value\(\): )boolean/g, "$1number");
  return `${exact}export type Exports = typeof __AdaptedExports;\n`;
}
