/**
 * The table of rooms in ARCHITECTURE.md against the imports of all sources, and exports that nobody imports. `test` is not in the
 * table: it may import everything.
 */
import assert from "node:assert/strict";
import {existsSync, readdirSync, readFileSync} from "node:fs";
import {dirname, join, normalize} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const IMPORT = /^(?:import|export)\s(?:[^;"]*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Paths of one row of the table, and what its last column names. */
interface Row {
  readonly paths: readonly string[];
  readonly imports: readonly string[];
}

/** Rows in the table's order. Names of rooms of the same folder are completed: in a row of storage, `page` is storage/page. */
function readRows(): Row[] {
  const lines = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n");
  const begin = lines.indexOf("| room | what it owns | imports |");
  assert.notEqual(begin, -1, "ARCHITECTURE.md has a table of rooms");
  const end = lines.findIndex((line, index) => index > begin && !line.startsWith("|"));
  const cells = lines.slice(begin + 2, end).map(line => line.split("|"));
  const rows = cells.map(([, paths = "", , imports = ""]) => ({
    paths: [...paths.matchAll(/`([^`]+)`/g)].map(([, path]) => path as string),
    imports: imports.split(",").flatMap(name => name.replaceAll("`", "").trim() || []),
  }));
  const known = new Set(rows.flatMap(({paths}) => paths));
  return rows.map(({paths, imports}) => {
    const folder = paths[0]?.split("/")[0];
    return {
      paths,
      imports: imports.map(name => (known.has(`${folder}/${name}`) ? `${folder}/${name}` : name)),
    };
  });
}

const ROWS = readRows();
const PATHS = ROWS.flatMap(({paths}) => paths);

/** @returns the longest path of the table that holds the file; undefined if none does */
function roomOf(file: string): string | undefined {
  const holding = PATHS.filter(path => file === path || file.startsWith(`${path}/`));
  return holding.sort((a, b) => b.length - a.length)[0];
}

function listSources(): string[] {
  const tops = new Set(PATHS.map(path => path.split("/")[0] as string));
  const isSource = (path: string) =>
    /\.[jt]s$/.test(path) && !/(^|\/)(node_modules|dist|wasm|report\/page)\//.test(path);
  return [...tops].flatMap(top =>
    (readdirSync(join(ROOT, top), {recursive: true}) as string[])
      .map(name => `${top}/${name}`)
      .filter(isSource),
  );
}

/** What a source imports from outside its room: a path of the table, "node:", or a package's name. */
function listImports(file: string): string[] {
  const specifiers = [...readFileSync(join(ROOT, file), "utf8").matchAll(IMPORT)].map(
    ([, a, b]) => (a ?? b) as string,
  );
  return specifiers.flatMap(specifier => {
    if (specifier.startsWith("node:")) return "node:";
    if (!specifier.startsWith(".")) return specifier.startsWith("#package/") ? [] : specifier;
    const target = normalize(join(dirname(file), specifier));
    const room = roomOf(target) ?? target;
    return room === roomOf(file) ? [] : room;
  });
}

/** `name` of a row covers the import: the same, a folder's room, a package's module or a scope's package. */
function covers(name: string, imported: string): boolean {
  return imported === name || imported.startsWith(`${name}/`);
}

const imports = listSources().map(file => ({file, room: roomOf(file), imported: listImports(file)}));

test("each source imports only what the row of its room names", () => {
  const refused = imports.flatMap(({file, room, imported}) => {
    const row = ROWS.find(({paths}) => room !== undefined && paths.includes(room));
    const allowed = [...(row?.imports ?? []), ...(row?.paths ?? [])];
    return imported.filter(one => !allowed.some(name => covers(name, one))).map(one => `${file}: ${one}`);
  });
  assert.deepEqual(refused, []);
});

test("each import that the table names is one of some source", () => {
  const idle = ROWS.flatMap(({paths, imports: names}) => {
    const used = imports
      .filter(({room}) => room !== undefined && paths.includes(room))
      .flatMap(({imported}) => imported);
    return names.filter(name => !used.some(one => covers(name, one))).map(name => `${paths}: ${name}`);
  });
  assert.deepEqual(idle, []);
});

test("a row of the table names only rooms above it, and rooms that exist", () => {
  const wrong = ROWS.flatMap(({paths, imports: names}, index) => {
    const below = ROWS.slice(index).flatMap(row => row.paths);
    const missing = paths.filter(path => !existsSync(join(ROOT, path)));
    return [
      ...missing,
      ...names.filter(name => below.some(path => covers(name, path))).map(name => `${paths}: ${name}`),
    ];
  });
  assert.deepEqual(wrong, []);
});

const EXPORT = /^export (?:async |abstract )?(?:function\*?|const|class|interface|type) (\w+)/gm;

test("each export is named in another source, but for those of the client, which others import", () => {
  const names = (readdirSync(join(ROOT, "test"), {recursive: true}) as string[]).map(name => `test/${name}`);
  const files = [...listSources(), ...names.filter(name => name.endsWith(".ts"))];
  const texts = files.map(file => ({file, text: readFileSync(join(ROOT, file), "utf8")}));
  const naming = new Map<string, number>();
  for (const {text} of texts)
    for (const word of new Set(text.match(/\w+/g))) naming.set(word, (naming.get(word) ?? 0) + 1);
  const idle = texts.flatMap(({file, text}) =>
    [...text.matchAll(EXPORT)]
      .filter(([, name]) => naming.get(name as string) === 1 && !file.startsWith("client/"))
      .map(([, name]) => `${file}: ${name}`),
  );
  assert.deepEqual(idle, []);
});
