/** What the threads of a service load at their start. The library's EVM costs half a second of processor time, and 30 MB a thread. */
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {test} from "node:test";
import {fileURLToPath} from "node:url";

const DIST = new URL("../../", import.meta.url);
const AT_START = /^(?:import|export)\s(?:[^;"]*?\sfrom\s+)?"([^"]+)"/gm;
const AT_ALL = /(?:\bfrom\s+|^import\s+|\bimport\()"([^"]+)"/gm;
/** Its RLP is a small package of its own. */
const EVM = /^@ethereumjs\/(?!rlp$)/;

/** @returns the EVM's packages that a compiled file imports, itself or through others, each after the file that names it */
function findEvm(file: URL, imports: RegExp, seen = new Set<string>()): string[] {
  if (seen.has(file.href)) return [];
  seen.add(file.href);
  const names = [...readFileSync(file, "utf8").matchAll(imports)].map(([, name]) => name as string);
  return names.flatMap(name => {
    if (name.startsWith(".")) return findEvm(new URL(name, file), imports, seen);
    return EVM.test(name) ? `${file.pathname}: ${name}` : [];
  });
}

test("the main thread never loads the EVM, and other threads not at their start", () => {
  const threads = (readdirSync(fileURLToPath(new URL("workers", DIST)), {recursive: true}) as string[])
    .filter(name => name.endsWith("Worker.js"))
    .map(name => new URL(`workers/${name}`, DIST));
  assert.ok(threads.length >= 5, threads.join());
  assert.deepEqual(
    threads.flatMap(thread => findEvm(thread, AT_START)),
    [],
  );
  assert.deepEqual(findEvm(new URL("cli/commands/serveCommand.js", DIST), AT_ALL), []);
  // The search finds it where it is loaded.
  assert.notDeepEqual(findEvm(new URL("workers/import/importWorker.js", DIST), AT_ALL), []);
  assert.deepEqual(findEvm(new URL("workers/estimate/estimateWorker.js", DIST), AT_ALL), []);
});
