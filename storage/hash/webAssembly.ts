/** Loads WebAssembly modules, which `npm run build` compiles from folders named wasm to dist/, one folder above. */
import {readFileSync} from "node:fs";

/** Declared here, since neither the types of ES2023 nor those of Node 20 have it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: Imports) => {readonly exports: unknown};
};

/** Functions by module and name. What one of them throws ends the call of the module. */
type Imports = Readonly<Record<string, Readonly<Record<string, (...values: never[]) => unknown>>>>;

/** By path: a thread compiles a module once. */
const modules = new Map<string, object>();

/** @returns a new instance's exports, with memory of their own. @throws the system's error if the file is missing */
export function loadWasm<Exports>(file: URL, imports: Imports = {}): Exports {
  const module = modules.get(file.href) ?? new WebAssembly.Module(readFileSync(file));
  modules.set(file.href, module);
  return new WebAssembly.Instance(module, imports).exports as Exports;
}
