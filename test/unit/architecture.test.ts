/**
 * The table of rooms against the imports of all sources, and exports that nobody imports. `test` is not in the
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

/**
 * Rooms, and what each may import: rooms (short names are rooms of the same folder, a folder's name means all of its rooms), packages,
 * and `node:` for Node's own modules. A row names only rooms above it. The row of a folder itself is for the files that lie directly in it.
 * A file may also import its own room. Type imports count.
 */
const ROOMS: Readonly<Record<string, string>> = {
  "client/bytes": "",
  "client/hash": "bytes, @noble/hashes",
  "client/proof": "bytes, hash",
  "client/compact": "bytes, hash, proof",
  "client/leaves": "bytes, hash, proof, compact",
  "client/rpc": "bytes",
  "client/service": "bytes, hash, proof, compact, leaves, rpc, @noble/hashes",
  "client/pull": "bytes, hash, proof, leaves, rpc, service",
  client: "bytes, hash, proof, compact, leaves, rpc, service, pull",
  "pulled/pulledError.ts": "",
  "pulled/row": "",
  "pulled/format": "pulledError.ts, row, node:, hyparquet, hyparquet-writer",
  "pulled/folder": "pulledError.ts, row, format, node:",
  page: "client",
  "storage/errors.ts, storage/hex.ts": "",
  "storage/rlp": "",
  "storage/leveldb": "errors.ts, node:, level, hash-wasm",
  "storage/hash": "node:, @chainsafe/as-sha256",
  "storage/record": "errors.ts, node:",
  "storage/page": "errors.ts, hash, leveldb, record",
  "storage/index": "errors.ts, page",
  "storage/tree": "errors.ts, hash, page, index",
  "storage/keys": "errors.ts, record, page",
  "storage/block": "errors.ts, hex.ts, leveldb, hash, record, page, index, tree, keys, level",
  "storage/commit": "errors.ts, hex.ts, leveldb, hash, record, page, index, tree, keys, block, level",
  "storage/prune": "errors.ts, leveldb, record, page, tree, block, commit, level",
  "storage/check": "errors.ts, hex.ts, leveldb, hash, record, page, index, tree, keys, block",
  storage: "leveldb, hash, record, block, commit, node:, level",
  "sync/rpc": "node:, undici",
  "sync/layer2": "rpc, storage, @noble/curves",
  "sync/finality": "rpc, storage",
  "sync/feed": "rpc, storage, node:, @nats-io",
  "workers/evm": "storage, node:, @ethereumjs, @noble/curves, @bitauth/libauth",
  "workers/job": "storage, sync/rpc, sync/feed, node:",
  "workers/thread": "job, storage, node:",
  "workers/execution/errors.ts": "",
  "workers/trie": "execution/errors.ts, storage, node:",
  "workers/execution": "execution/errors.ts, trie, evm, storage, node:, @ethereumjs",
  "workers/prove": "job, thread, storage",
  "workers/estimate": "job, thread, evm, execution, storage, node:",
  "workers/import": "pulled, job, thread, trie, evm, execution, storage, sync, node:, @ethereumjs",
  "workers/check": "job, thread, storage, node:",
  "workers/prune": "job, thread, storage",
  "workers/feed": "job, thread, storage, sync/feed, node:",
  "workers/pool": "job, thread, estimate, storage, node:, piscina",
  "workers/chain": "job, thread, pool, storage, node:",
  "workers/engine.ts": "job, thread, prove, pool, chain, storage",
  "server/limits.ts, server/version.ts": "node:",
  "server/rpc": "workers/job, node:",
  "server/request": "workers/job",
  "server/observe": "version.ts, rpc, request, workers/job, workers/chain, pino, prom-client",
  "server/gateway": "limits.ts, rpc, request, sync/rpc, workers/job, pino",
  "server/methods": "limits.ts, version.ts, rpc, request, gateway, workers/job, workers/chain, node:",
  "server/dispatch":
    "limits.ts, rpc, request, observe, methods, workers/job, workers/pool, workers/engine.ts",
  "server/listener": "node:, pino, uWebSockets.js",
  "server/http": "limits.ts, rpc, request, observe, methods, listener, node:, pino",
  "server/control": "workers/job, workers/engine.ts, node:",
  server: "rpc, request, observe, methods, dispatch, http, workers/job, workers/engine.ts, pino",
  contracts: "node:, solc, @noble/hashes",
  "contracts/deploy": "node:, @ethereumjs/rlp, @noble/curves, @noble/hashes, proofd-contracts",
  demo: "storage, workers/execution, node:, @ethereumjs, @noble/hashes, ox, solc",
  load: "node:, proofd-client, undici, hdr-histogram-js, pure-rand, @ethereumjs, @noble/hashes",
  service: "server, storage, sync, workers/job, workers/pool, workers/chain, workers/engine.ts, node:, pino",
  "cli/exitCode.ts": "",
  "cli/flags":
    "server/limits.ts, server/version.ts, server/listener, storage, sync, service, workers/job, pulled/format, node:, commander, proofd-load",
  "cli/commands":
    "exitCode.ts, flags, client, pulled, service, server, storage, sync, workers/job, workers/pool, workers/chain, workers/engine.ts, node:, commander, pino, proofd-load",
  cli: "exitCode.ts, flags, commands, service, server, commander",
  bench:
    "client, storage, server, workers, contracts, demo, proofd-load, node:, @chainsafe/as-sha256, @noble/hashes, commander, level, ox, piscina, tinybench",
  examples: "node:, ox, proofd-client, proofd-contracts",
};

/** Rows in the table's order. Names of rooms of the same folder are completed: in a row of storage, `page` is storage/page. */
function readRows(): Row[] {
  const rows = Object.entries(ROOMS).map(([paths, imports]) => ({
    paths: paths.split(", "),
    imports: imports === "" ? [] : imports.split(", "),
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
    /\.[jt]s$/.test(path) && !/(^|\/)(node_modules|dist|wasm|load\/page)\//.test(path);
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
