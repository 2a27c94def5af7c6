/**
 * What each folder may import, as the linter sees it. Probes stand in a copy of its configuration, one import in each. A path
 * ends in ".ts" and is the package's own file, written from its root; everything else is a library.
 */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {cp, mkdir, readdir, readFile, writeFile} from "node:fs/promises";
import {join, relative} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {runChild} from "../../support/processes/childProcesses.ts";

interface FolderRule {
  readonly may: readonly string[];
  readonly mayNot: readonly string[];
}

interface Diagnostic {
  readonly category: string;
  readonly location: {readonly path: string};
}

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const BIOME = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
/** No folder but test may import these: a folder that nobody has thought of yet, and the tests. */
const NEVER = ["future/thing.ts", "future/room/thing.ts", "test/support/thing.ts"];

/** The folder table of ARCHITECTURE.md. */
const RULES: Readonly<Record<string, FolderRule>> = {
  storage: {
    may: ["node:fs", "node:fs/promises", "level", "storage/errors.ts", "storage/hash/suite.ts"],
    mayNot: [
      "piscina",
      "@ethereumjs/rlp",
      "left-pad",
      "workers/pool/pool.ts",
      "client/bytes/hex.ts",
      "demo/abi.ts",
    ],
  },
  "storage/tree": {
    may: ["node:fs/promises", "storage/errors.ts"],
    mayNot: ["piscina", "undici", "workers/job/head.ts", "server/limits.ts"],
  },
  "storage/hash": {
    may: ["@chainsafe/as-sha256", "hash-wasm", "@noble/hashes/sha3.js"],
    mayNot: ["piscina"],
  },
  "workers/estimate": {
    may: ["node:vm", "@noble/curves/bls12-381.js", "storage/tree/account.ts", "workers/job/head.ts"],
    mayNot: ["level", "pino", "server/rpc/rpcError.ts", "client/bytes/hex.ts", "bench/load/loadRun.ts"],
  },
  "workers/estimate/fee": {
    may: ["node:zlib", "@ethereumjs/rlp", "storage/hex.ts", "workers/job/head.ts"],
    mayNot: ["level", "prom-client", "server/limits.ts", "demo/abi.ts"],
  },
  server: {
    may: ["pino", "workers/pool/pool.ts", "workers/job/head.ts", "server/rpc/rpcError.ts"],
    mayNot: ["piscina", "level", "workers/prove/prover.ts", "storage/errors.ts", "cli/exitCode.ts"],
  },
  "server/http": {
    may: ["uWebSockets.js", "node:dns/promises", "workers/job/head.ts"],
    mayNot: [
      "commander",
      "workers/thread/threadClock.ts",
      "storage/hex.ts",
      "sync/node/blockReader.ts",
      "client/client.ts",
    ],
  },
  "server/gateway": {
    may: ["pino", "sync/rpc/node.ts", "server/rpc/rpcError.ts"],
    mayNot: ["undici", "sync/node/blockReader.ts", "server/methods/table.ts"],
  },
  "server/control": {
    may: ["node:http", "server/rpc/rpcError.ts", "workers/pool/pool.ts"],
    mayNot: ["undici", "server/methods/table.ts", "sync/rpc/node.ts", "storage/hex.ts"],
  },
  "server/methods/estimateGas": {
    may: ["workers/job/estimateCall.ts", "server/rpc/quantity.ts"],
    mayNot: ["@ethereumjs/tx", "workers/estimate/machine.ts", "storage/hex.ts", "client/bytes/hex.ts"],
  },
  "sync/rpc": {
    may: ["node:net", "undici", "sync/rpc/node.ts"],
    mayNot: ["left-pad", "level", "sync/node/blockReader.ts", "storage/hex.ts", "workers/job/head.ts"],
  },
  "sync/node": {
    may: [
      "node:fs",
      "@ethereumjs/rlp",
      "@noble/curves/secp256k1.js",
      "storage/hex.ts",
      "sync/rpc/node.ts",
      "sync/node/blockReader.ts",
    ],
    mayNot: ["undici", "workers/job/head.ts", "server/front.ts", "sync/finality/thing.ts"],
  },
  "sync/finality": {
    may: ["node:fs", "storage/hex.ts", "sync/rpc/node.ts"],
    mayNot: ["left-pad", "workers/job/head.ts", "server/front.ts", "sync/node/blockReader.ts"],
  },
  "workers/import": {
    may: ["sync/node/blockReader.ts", "sync/rpc/node.ts", "workers/execution/genesis.ts"],
    mayNot: ["undici", "server/rpc/rpcError.ts", "cli/exitCode.ts"],
  },
  "workers/import/node": {
    may: [
      "@ethereumjs/rlp",
      "@ethereumjs/tx",
      "sync/node/trace/traceReader.ts",
      "workers/import/sourceBlock.ts",
      "workers/job/importSource.ts",
    ],
    mayNot: ["undici", "@ethereumjs/vm", "server/rpc/rpcError.ts", "cli/exitCode.ts"],
  },
  cli: {
    may: [
      "commander",
      "pino",
      "server/front.ts",
      "workers/pool/pool.ts",
      "cli/flags/flag.ts",
      "sync/node/thing.ts",
    ],
    mayNot: ["left-pad", "piscina", "bench/stages/main.ts"],
  },
  "cli/commands": {
    may: ["cli-progress", "bench/load/loadRun.ts", "demo/demoChain.ts", "storage/hex.ts", "cli/exitCode.ts"],
    mayNot: ["left-pad", "level", "bench/peers/main.ts", "bench/served/table.ts"],
  },
  demo: {
    may: ["@ethereumjs/vm", "solc", "storage/hex.ts", "workers/execution/genesis.ts", "client/bytes/hex.ts"],
    mayNot: ["server/front.ts", "cli/exitCode.ts", "bench/stages/main.ts"],
  },
  bench: {
    may: ["tinybench", "storage/stateStore.ts", "bench/stages/main.ts"],
    mayNot: [],
  },
  "bench/stages": {
    may: ["tinybench", "storage/stateStore.ts", "server/limits.ts", "demo/abi.ts", "bench/load/loadRun.ts"],
    mayNot: [],
  },
  "bench/load": {
    may: ["node:worker_threads", "undici", "client/client.ts", "bench/load/traffic/clock.ts"],
    mayNot: [
      "level",
      "piscina",
      "server/limits.ts",
      "workers/job/head.ts",
      "storage/hex.ts",
      "bench/stages/main.ts",
    ],
  },
  "bench/load/traffic": {
    may: ["hdr-histogram-js", "client/client.ts", "bench/load/loadOptions.ts"],
    mayNot: [
      "uWebSockets.js",
      "server/limits.ts",
      "workers/job/head.ts",
      "storage/hex.ts",
      "bench/served/table.ts",
    ],
  },
  client: {
    may: ["@noble/hashes/sha2.js", "client/rpc/thing.ts"],
    mayNot: ["left-pad", "node:crypto", "storage/hex.ts", "contracts/thing.ts"],
  },
  "client/future": {
    may: ["@noble/hashes/sha2.js", "client/client.ts", "client/bytes/hex.ts"],
    mayNot: ["left-pad", "node:crypto", "storage/hex.ts", "server/rpc/rpcError.ts", "contracts/thing.ts"],
  },
  contracts: {
    may: ["node:fs", "solc", "contracts/thing.ts"],
    mayNot: ["left-pad", "storage/hex.ts", "demo/abi.ts", "client/client.ts"],
  },
  "examples/relayer": {
    may: ["node:util", "proofd-client", "ox/AbiFunction", "examples/relayer/thing.ts"],
    mayNot: ["left-pad", "client/client.ts", "contracts/artefacts.ts", "storage/hex.ts", "demo/abi.ts"],
  },
  "future/room": {
    may: ["node:fs", "future/room/thing.ts"],
    mayNot: ["left-pad", "storage/hex.ts", "client/bytes/hex.ts"],
  },
  "test/unit/storage": {
    may: [...NEVER, "fast-check", "storage/hex.ts", "server/front.ts", "bench/stages/main.ts"],
    mayNot: [],
  },
};

/** Which rooms of its own folder a room may import; it may import none of the others. */
const ROOMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  client: {
    bytes: [],
    hash: ["bytes"],
    proof: ["bytes", "hash"],
    compact: ["bytes", "hash", "proof"],
    rpc: ["bytes"],
    service: ["bytes", "hash", "proof", "compact", "rpc"],
    pull: ["bytes", "hash", "proof", "compact", "rpc", "service"],
    viem: ["bytes", "hash", "proof", "compact", "rpc", "service", "pull"],
  },
  cli: {flags: [], commands: ["flags"]},
  storage: {
    hash: [],
    leveldb: [],
    record: [],
    page: ["hash", "leveldb", "record"],
    index: ["hash", "record", "page"],
    tree: ["hash", "record", "page", "index"],
    block: ["hash", "leveldb", "record", "page", "index", "tree"],
    commit: ["hash", "leveldb", "record", "page", "index", "tree", "block"],
    prune: ["leveldb", "record", "page", "tree", "block", "commit"],
    check: ["hash", "leveldb", "record", "page", "index", "tree", "block"],
  },
  workers: {
    job: [],
    thread: [],
    execution: ["job"],
    prove: ["job", "thread"],
    estimate: ["job", "thread", "execution"],
    import: ["job", "thread", "execution"],
    check: ["job", "thread"],
    prune: ["job", "thread"],
    pool: ["job", "thread", "prove", "estimate", "import", "check"],
  },
  server: {
    rpc: [],
    answer: ["rpc"],
    observe: ["rpc", "answer"],
    gateway: ["rpc", "answer", "observe"],
    methods: ["rpc", "answer", "gateway"],
    dispatch: ["rpc", "answer", "observe", "gateway", "methods"],
    http: ["rpc", "answer", "observe"],
    control: ["rpc"],
  },
};

const PRIVATE_MEMBERS =
  "export class Leaf {\n  #index = 0;\n\n  next(): number {\n    return ++this.#index;\n  }\n}\n";
const BRACES =
  "export function count(n: number): number {\n  if (n > 0) {\n    return n;\n  }\n  return 0;\n}\n";

const NULL_DIALECT = "export function find(): string | null {\n  return null;\n}\n";
const OBJECT_TEST =
  'export function isObject(value: unknown): boolean {\n  return typeof value === "object" && value !== null;\n}\n';

let folder: WorkFolder;
/** Files of the copy by the rule that refuses them. */
let refusedBy: ReadonlyMap<string, ReadonlySet<string>>;

/** @returns of the file that imports `what` from a folder */
function probePath(from: string, what: string): string {
  return `${from}/probe-${what.replaceAll(/[^\w]/g, "-")}.ts`;
}

async function writeProbe(from: string, what: string): Promise<void> {
  const path = relative(from, what);
  const specifier = !what.endsWith(".ts") ? what : path.startsWith("..") ? path : `./${path}`;
  await writeFile(folder.file(probePath(from, what)), `import "${specifier}";\n`);
}

async function copyConfiguration(): Promise<void> {
  for (const name of [".gitignore", "biome.json", "lint"])
    await cp(join(ROOT, name), folder.file(name), {recursive: true});
  for (const name of await readdir(ROOT)) {
    const config = join(name, "biome.json");
    if (existsSync(join(ROOT, config))) await cp(join(ROOT, config), folder.file(config));
  }
}

/** Runs what `npm run lint` runs, in the copy. */
async function findRefused(): Promise<Map<string, Set<string>>> {
  const {scripts} = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const [, ...args] = scripts.lint.split(" ");
  const options = ["--reporter=json", "--max-diagnostics=none"];
  const {code, stdout} = await runChild(process.execPath, [BIOME, ...args, ...options], {cwd: folder.path});
  assert.equal(code, 1);
  const {diagnostics} = JSON.parse(stdout) as {diagnostics: Diagnostic[]};
  const files = new Map<string, Set<string>>();
  for (const {category, location} of diagnostics)
    files.set(category, (files.get(category) ?? new Set()).add(location.path));
  return files;
}

function isRefused(from: string, what: string): boolean {
  return refusedBy.get("lint/style/noRestrictedImports")?.has(probePath(from, what)) === true;
}

/** One rule for each folder and each room. */
function listRules(): [from: string, rule: FolderRule][] {
  const rooms = Object.entries(ROOMS).flatMap(([top, table]) =>
    Object.entries(table).map(([room, allowed]): [string, FolderRule] => {
      const others = Object.keys(table).filter(other => other !== room && !allowed.includes(other));
      const thing = (name: string) => `${top}/${name}/thing.ts`;
      return [`${top}/${room}`, {may: allowed.map(thing), mayNot: [...others, "future"].map(thing)}];
    }),
  );
  return [...Object.entries(RULES), ...rooms];
}

/** What the folder of a rule may not import. */
function listForbidden({may, mayNot}: FolderRule): string[] {
  return [...mayNot, ...NEVER.filter(what => !may.includes(what))];
}

before(async () => {
  folder = await WorkFolder.create();
  await copyConfiguration();
  for (const [from, rule] of listRules()) {
    await mkdir(folder.file(from), {recursive: true});
    for (const what of [...rule.may, ...listForbidden(rule)]) await writeProbe(from, what);
  }
  await writeFile(
    folder.file("storage/tree/a.ts"),
    'import type {B} from "./b.ts";\n\nexport type A = B | 1;\n',
  );
  await writeFile(
    folder.file("storage/tree/b.ts"),
    'import type {A} from "./a.ts";\n\nexport type B = A[];\n',
  );
  await writeFile(folder.file("storage/tree/private.ts"), PRIVATE_MEMBERS);
  await writeFile(folder.file("storage/tree/braces.ts"), BRACES);
  for (const name of ["storage/tree/null.ts", "server/rpc/envelope.ts"])
    await writeFile(folder.file(name), NULL_DIALECT);
  await writeFile(folder.file("storage/tree/object.ts"), OBJECT_TEST);
  refusedBy = await findRefused();
});

after(() => folder.remove());

for (const [from, rule] of listRules()) {
  test(`a file of ${from}/ may import ${rule.may.join(", ")}`, () => {
    const refused = rule.may.filter(what => isRefused(from, what));
    assert.deepEqual(refused, []);
  });
  test(`lint fails where a file of ${from}/ imports ${listForbidden(rule).join(", ")}`, () => {
    const passed = listForbidden(rule).filter(what => !isRefused(from, what));
    assert.deepEqual(passed, []);
  });
}

test("lint fails on a circle of imports, also where types alone close it", () => {
  assert.deepEqual([...(refusedBy.get("lint/suspicious/noImportCycles") ?? [])].sort(), [
    "storage/tree/a.ts",
    "storage/tree/b.ts",
  ]);
});

test("lint fails on #private members, braces around one line, and null where no JSON is read or written", () => {
  assert.deepEqual([...(refusedBy.get("plugin") ?? [])].sort(), [
    "storage/tree/braces.ts",
    "storage/tree/null.ts",
    "storage/tree/private.ts",
  ]);
});
