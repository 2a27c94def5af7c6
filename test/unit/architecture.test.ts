/** The table of rooms against the imports of all sources, but those of `test`, and exports that nobody imports. */
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
  "client/trie": "bytes, hash, proof, compact, @noble/hashes",
  "client/rpc": "bytes",
  "client/methods": "bytes, hash, proof, compact, leaves, trie, rpc, @noble/hashes",
  "client/pull": "bytes, hash, proof, leaves, rpc, methods",
  "client/folder/pulledError.ts": "",
  "client/folder/row": "",
  "client/folder/format": "folder/pulledError.ts, folder/row, node:, hyparquet, hyparquet-writer",
  "client/folder":
    "bytes, hash, proof, compact, leaves, rpc, methods, pull, folder/pulledError.ts, folder/row, folder/format, node:, @noble/hashes",
  "client/call": "bytes, hash, proof, trie, rpc, methods, @ethereumjs, @noble/hashes",
  client: "bytes, hash, proof, compact, leaves, trie, rpc, methods, pull",
  load: "node:, @noble/hashes, hdr-histogram-js, proofd-client, pure-rand",
  page: "client",
  "storage/bisect.ts, storage/count.ts, storage/errors.ts, storage/hex.ts": "",
  "storage/invariant.ts": "node:",
  "storage/regularFile.ts": "node:",
  "storage/rlp": "count.ts",
  "storage/hash": "node:, @chainsafe/as-sha256",
  "storage/leveldb": "bisect.ts, count.ts, errors.ts, regularFile.ts, hash, node:",
  "storage/directory": "count.ts, errors.ts, regularFile.ts, leveldb, node:, level",
  "storage/record": "count.ts, errors.ts, node:",
  "storage/page": "errors.ts, hash, record",
  "storage/tree": "bisect.ts, errors.ts, hash, record, page",
  "storage/trie": "errors.ts, hex.ts, rlp, hash, record, page",
  "storage/cache": "errors.ts, hash, leveldb, record, page, tree, trie",
  "storage/block":
    "bisect.ts, errors.ts, hex.ts, rlp, leveldb, directory, hash, record, tree, trie, cache, level",
  "storage/commit":
    "bisect.ts, count.ts, errors.ts, hex.ts, invariant.ts, leveldb, directory, hash, record, page, tree, trie, cache, block, level",
  "storage/prune": "bisect.ts, errors.ts, leveldb, record, page, tree, trie, cache, block, commit, level",
  "storage/check": "errors.ts, hex.ts, directory, hash, record, page, tree, trie, block",
  storage: "errors.ts, leveldb, directory, hash, record, block, commit, prune, node:, level",
  "nodes/rpc": "client/rpc, node:, undici",
  "nodes/blocks": "storage, rpc",
  "nodes/files": "storage, rpc, blocks, node:",
  "nodes/finality": "storage, rpc",
  "nodes/feed": "client/rpc, storage, rpc, node:, @nats-io",
  "evm/interpreter": "storage, node:, @bitauth/libauth, @ethereumjs, @noble/curves, @noble/hashes",
  "evm/execution/executionError.ts": "",
  "evm/execution": "storage, interpreter, execution/executionError.ts, node:, @ethereumjs",
  "workers/messages": "storage, nodes/rpc, nodes/feed, node:",
  "workers/threads": "storage, messages, node:, piscina",
  "workers/prove": "storage, messages, threads",
  "workers/estimate":
    "storage, evm/interpreter, evm/execution/executionError.ts, evm/execution, messages, threads, prove, node:",
  "workers/import":
    "client/folder/pulledError.ts, client/folder/row, client/folder, storage, nodes/rpc, nodes/blocks, nodes/files, nodes/feed, evm/interpreter, evm/execution/executionError.ts, evm/execution, messages, threads, node:",
  "workers/publish": "storage, nodes/feed, messages, threads, node:",
  "workers/chain": "storage, messages, threads, node:",
  "workers/engine.ts": "storage, messages, threads, prove, chain",
  "server/limits.ts, server/version.ts": "node:",
  "server/fairness": "storage/invariant.ts",
  "server/json": "fairness, node:",
  "server/rpc": "workers/messages, fairness, json, node:",
  "server/request": "workers/messages",
  "server/observe":
    "workers/messages, workers/chain, workers/engine.ts, version.ts, rpc, request, node:, pino",
  "server/gateway": "nodes/rpc, workers/messages, limits.ts, fairness, json, rpc, request, node:, pino",
  "server/slices": "storage, nodes/rpc, nodes/blocks, workers/messages, pino",
  "server/methods":
    "storage/count.ts, storage/hex.ts, workers/messages, workers/chain, limits.ts, version.ts, fairness, rpc, request, gateway, node:",
  "server/dispatch":
    "storage/invariant.ts, workers/messages, workers/threads, workers/engine.ts, limits.ts, fairness, rpc, request, gateway, observe, slices, methods",
  "server/listener": "fairness, node:, pino, uWebSockets.js",
  "server/http": "limits.ts, fairness, rpc, request, observe, methods, listener, node:, pino",
  "server/front.ts, server/rpcService.ts":
    "workers/messages, workers/engine.ts, fairness, rpc, request, gateway, observe, slices, methods, dispatch, http, pino",
  "server/lifecycle/control": "storage, workers/messages, workers/engine.ts, node:",
  "server/lifecycle":
    "storage, nodes/rpc, nodes/finality, nodes/feed, workers/messages, workers/threads, workers/chain, workers/engine.ts, version.ts, observe, gateway, slices, listener, methods, front.ts, lifecycle/control, node:, pino",
  contracts: "node:",
  "contracts/deploy": "node:, @ethereumjs, @noble/curves, @noble/hashes, proofd-contracts",
  demo: "node:, ox",
  "cli/exitCode.ts": "",
  "cli/flags":
    "client/rpc, client/folder/format, storage, nodes/rpc, workers/messages, server/limits.ts, server/version.ts, server/listener, server/methods, server/lifecycle, node:, commander, proofd-load",
  "cli/commands":
    "client/folder/pulledError.ts, client/folder, client, storage, nodes/rpc, nodes/finality, workers/messages, workers/threads, workers/chain, workers/engine.ts, server/limits.ts, server/version.ts, server/listener, server/lifecycle/control, server/lifecycle, exitCode.ts, flags, node:, commander, pino, proofd-load",
  cli: "server/version.ts, server/lifecycle, exitCode.ts, flags, commands, commander",
  bench:
    "client, storage, evm/interpreter, evm/execution, workers/messages, workers/prove, workers/estimate, workers/import, server/version.ts, demo, cli/flags, node:, @chainsafe/as-sha256, @noble/hashes, commander, ox, proofd-load, tinybench",
  examples: "node:, ox, proofd-client, proofd-contracts, viem",
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
  const isOwn = (name: string) => name.endsWith(".ts") && !name.includes("/node_modules/");
  const files = [...listSources(), ...names.filter(isOwn)];
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
