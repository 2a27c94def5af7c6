/** What the README and the documents print works as printed, and what they name exists. */
import assert from "node:assert/strict";
import {access, mkdtemp, readdir, readFile, writeFile} from "node:fs/promises";
import {dirname, join} from "node:path";
import {after, before, test} from "node:test";
import {GENERATOR_WAS_LIMIT} from "proofd-load";
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {PhaseProgress} from "../../../client/folder/pullPlace.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import addresses from "../../../demo/addresses.json" with {type: "json"};
import {toHex} from "../../../storage/hex.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {longChain} from "../../support/chains/longChain.ts";
import {ROOT, readBlock, readBlocks, readSection} from "../../support/documents/printedBlocks.ts";
import type {AskedService} from "../../support/http/askedService.ts";
import {testDemoTrees} from "../../support/http/demoTrees.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {JsonRpcServer} from "../../support/nodes/jsonRpcServer.ts";
import {type Finished, runChild} from "../../support/processes/childProcesses.ts";
import {Chromium, findChromium} from "../../support/processes/chromium.ts";
import type {CommandEnd} from "../../support/processes/commandLines.ts";
import {findProgram} from "../../support/processes/foundProgram.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runAllHere, runHere} from "../../support/processes/ownCommand.ts";
import {pullSmall} from "../../support/pulled/smallPull.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {memoisedSha256} from "../../support/stores/everyKey.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

/** The command, as the README and as the other documents print it. */
const PROGRAM = /^(?:node dist\/cli\/main\.js|proofd) /;
const COMMANDS = ["import", "serve", "finalize", "check", "verify", "pull", "rollback", "snapshot", "load"];

const folder = makeTemporaryFolder();
let readme: string;
let [operationsPage, loadPage] = ["", ""];
/** Text by path from the clone. */
const documents = new Map<string, string>();
/** What the commands for a chain of blocks have said before `demo` was started: import, check and snapshot. */
let ends: readonly CommandEnd[];
/** Serves the demo chain from the store that they made, which `--demo` compares. */
let demo: OwnService;
before(async () => {
  for (const place of [
    ".",
    "client",
    "docs",
    "demo",
    "contracts",
    "load",
    "examples/python",
    "examples/relayer",
  ]) {
    for (const name of await readdir(join(ROOT, place))) {
      const path = join(place, name);
      if (name.endsWith(".md")) documents.set(path, await readFile(join(ROOT, path), "utf8"));
    }
  }
  readme = documents.get("README.md") as string;
  [operationsPage, loadPage] = ["operations", "load"].map(readPage) as [string, string];
  const lines = longChain(3, 4);
  const state = new ReferenceState(memoisedSha256, lines);
  const rooted = lines.map((line, block) => ({...line, stateRoot: toHex(state.stateRoot(block))}));
  await writeFile(join(folder, "blocks.ndjson"), encodeLines(rooted));
  const commands = commandLines(operationsPage, "blocks");
  const [importBlocks, , serve, , , check] = commands;
  assert.ok(importBlocks?.[0] === "import" && serve?.[0] === "serve" && check?.[0] === "check");
  const snapshot = commands.find(([command]) => command === "snapshot");
  assert.ok(snapshot !== undefined);
  ends = await runAllHere([importBlocks, check, snapshot]);
  demo = await OwnService.serve([...serve.slice(1), "--demo"], {estimates: true});
});
after(() => demo.stop());

testDemoTrees(() => demo);

test("on the demo chain, the page proves an account and a slot at a click, and shows the slot's key whole", async t => {
  const program = findChromium();
  if (program === undefined) return notRun(t, "no Chromium in PATH");
  const chromium = await Chromium.start(program, join(folder, "profile"));
  t.after(() => chromium.stop());
  await chromium.open(demo.url);
  await chromium.until("document.querySelectorAll('#samples button').length === 2");
  const {token} = JSON.parse(await readFile(join(ROOT, "demo/addresses.json"), "utf8"));
  for (const [sample, slots, verdict] of [
    ["an account", 0, "the account exists"],
    ["a token and a balance in it", 1, `slot ${token.holderBalanceSlot.slice(0, 8)}…`],
  ]) {
    await chromium.evaluate(
      `document.activeElement.blur(), [...document.querySelectorAll('#samples button')].find(one => one.innerText === "${sample}").click()`,
    );
    await chromium.until("document.activeElement.id === 'verdict'");
    const shown = await chromium.evaluate<string>("document.getElementById('result').innerText");
    assert.ok(shown.startsWith(`Verified under this server's own root: ${verdict}`), shown);
    assert.equal(shown.includes(`slot ${token.holderBalanceSlot}`), slots === 1);
  }
  assert.deepEqual(chromium.complaints, []);
});

function readPage(name: string): string {
  return documents.get(join("docs", `${name}.md`)) as string;
}

/** The arguments of the command lines that a page prints, its placeholders filled in. */
function commandLines(page: string, store: string): string[][] {
  const lines = page.split("\n").filter(line => PROGRAM.test(line));
  assert.ok(lines.length >= 2, "the page prints its commands");
  const places: Record<string, string> = {
    DIR: join(folder, store),
    BACKUP: join(folder, `${store}-backup`),
    "genesis.json": join(ROOT, "demo/genesis.json"),
    "chain.rlp": join(ROOT, "demo/chain.rlp"),
    "blocks.ndjson": join(folder, "blocks.ndjson"),
  };
  return lines.map(line =>
    (line.replace(PROGRAM, "").split("#")[0] as string)
      .trim()
      .split(/\s+/)
      .map(word => places[word] ?? word),
  );
}

/** What a daemon answers to the curl example of a page. */
async function askAsPrinted(page: string, daemon: AskedService): Promise<string> {
  const body = /-d '(\{.*\})'/.exec(page)?.[1];
  assert.ok(body !== undefined, "the page has a curl example");
  return (await daemon.post(body)).text;
}

test("the commands for a chain of blocks import it, check it and serve the printed answer and every method", async () => {
  const [imported, checked, snapshot] = ends;
  assert.match(
    imported?.stdout ?? "",
    /^imported 101 blocks; the store has blocks 0 to 100, finalized up to 100\b/,
    imported?.stderr,
  );
  assert.match(
    checked?.stdout ?? "",
    /^checked 101 blocks, \d+ pages, \d+ leaves, [\d.]+ MB of tables: nothing wrong\n$/,
  );
  assert.match(snapshot?.stdout ?? "", /^{"msg":"snapshot",.*"block":100,/, snapshot?.stderr);
  const text = await askAsPrinted(readme, demo);
  const fields = readBlocks(readSection(readme, "Start")).at(-1)?.text.split("\n").slice(0, -1) ?? [];
  assert.equal(fields.length, 4);
  for (const field of fields) {
    const [printed = ""] = field.split(/\.\.\.| {2}/);
    assert.ok(text.includes(printed.replace(": ", ":")), field);
  }
  const {stateRoot} = (await demo.call("chain_getStateRoot", ["latest"])).result;
  const {result} = JSON.parse(text);
  const root = Buffer.from(stateRoot.slice(2), "hex");
  const {account} = verifyProof(sha256Suite, root, result.accountProof.key, [], result);
  assert.equal(account?.nonce, 1n, encodeHex(root));
  // Every method that the README lists is one that proofd has.
  const names = /`((?:chain|eth|net|proof|rpc|web3)[._][A-Za-z]+)`/g;
  const methods = [...readSection(readme, "Methods").matchAll(names)].map(([, name]) => name as string);
  assert.ok(methods.length >= 4, "the README lists methods");
  for (const method of methods) assert.notEqual((await demo.call(method)).error?.code, -32601, method);
  const gas = readPage("gas");
  assert.equal(await askAsPrinted(gas, demo), /```\n(\{"jsonrpc[\s\S]*?)\n```/.exec(gas)?.[1]);
});

test("the commands for block differences import them, before and while serving, and finalize them", async t => {
  const [, importDiffs, , serveDiffs, finalize] = commandLines(operationsPage, "diffs");
  assert.ok(importDiffs?.[0] === "import" && serveDiffs?.[0] === "serve");
  assert.equal(finalize?.[0], "finalize");
  const imported = await runHere(importDiffs);
  assert.equal(imported.code, 0, imported.stderr);
  const daemon = await OwnService.serve(serveDiffs.slice(1));
  t.after(() => daemon.stop());
  assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x2");
  const finalized = await runHere(finalize);
  assert.match(finalized.stdout, /blocks up to 2 were finalized already/, finalized.stderr);
});

/** Runs the commands of a section in a folder of its own, with the daemon's address. @returns what they print */
async function runCommands(
  section: string,
  daemon: AskedService,
): Promise<Finished & {readonly cwd: string}> {
  const script = readBlock(section, "sh")
    .replaceAll("http://127.0.0.1:8545", daemon.url)
    .replaceAll(new RegExp(PROGRAM, "gm"), `"${process.execPath}" "${join(ROOT, "dist/cli/main.js")}" `);
  const cwd = await mkdtemp(join(folder, "section-"));
  return {...(await runChild("sh", ["-e", "-c", script], {cwd})), cwd};
}

/** Runs the JavaScript of a section from the clone, where `proofd-client` is found, with its placeholders filled in. */
async function runProgram(
  section: string,
  places: Readonly<Record<string, string>>,
  end: string,
): Promise<Finished> {
  let script = readBlock(section, "js");
  for (const [place, value] of Object.entries(places)) {
    assert.ok(script.includes(place), `the program has ${place}`);
    script = script.replace(place, value);
  }
  return runChild(process.execPath, ["--input-type=module", "-e", script + end], {cwd: ROOT});
}

test("the commands of docs/checking.md verify a compact proof and a call of the demo chain as printed", async t => {
  if (findProgram("curl") === undefined) return notRun(t, "there is no curl");
  for (const title of ["Verify", "Verify a call"]) {
    const section = readSection(readPage("checking"), title);
    const {code, stdout, stderr} = await runCommands(section, demo);
    assert.equal(code, 0, stdout + stderr);
    const [beginning = "", end = ""] = readBlock(section, "").split("...\n");
    assert.ok(stdout.startsWith(beginning) && stdout.endsWith(end), stdout);
  }
});

test("the program for a verified call of client/README.md returns what eth_call returns", async () => {
  const section = readSection(documents.get(join("client", "README.md")) as string, "Verified calls");
  const call = /"params":\[(\{"to":[^}]*\})/.exec(readPage("checking"))?.[1] as string;
  const {hash} = (await demo.call("chain_getStateRoot", ["0x64"])).result;
  const places = {
    "http://127.0.0.1:8545": demo.url,
    "{to, data}": call,
    "{blockHash,": `{blockHash: "${hash}",`,
  };
  const {stdout, stderr} = await runProgram(section, places, "console.log(value, block);\n");
  const {result} = await demo.call("eth_call", [JSON.parse(call), "0x64"]);
  assert.equal(stdout, `${result} 100n\n`, stderr);
});

test("a relayer's program verifies against layer 1 and makes the compact proof that the server sends", async t => {
  const page = readPage("checking");
  const section = readSection(documents.get(join("client", "README.md")) as string, "Trusted roots");
  const {stateRoot} = (await demo.call("chain_getStateRoot", ["0x64"])).result;
  // Layer 1 is whatever answers eth_call with the root that the contract would hold.
  const layer1 = new JsonRpcServer(({id}) => ({jsonrpc: "2.0", id, result: stateRoot}));
  await layer1.start();
  t.after(() => layer1.stop());
  const [, address, slot] = /"address":"(0x\w{40})","storageKeys":\["(0x\w{64})"\]/.exec(page) ?? [];
  const places = {
    "http://l1:8545": layer1.url,
    "0xROLLUP": `0x${"aa".repeat(20)}`,
    "http://127.0.0.1:8545": demo.url,
    "0xACCOUNT": address as string,
    "0xSLOT": slot as string,
  };
  const value = /^slot 0x\w+ = (0x\w+)$/m.exec(page)?.[1] as string;
  const length = /(\d+) bytes that \[contracts\]/.exec(page)?.[1] as string;
  const {stdout, stderr} = await runProgram(section, places, "console.log(slots[0], bytes.length);\n");
  assert.equal(stdout, `${BigInt(value)}n ${length}\n`, stderr);
});

test("an indexer's commands pull a state and its changes, which DuckDB and pandas read as docs/pulling.md says", async t => {
  const page = readPage("pulling");
  const {code, stdout, stderr, cwd} = await runCommands(page, demo);
  assert.equal(code, 0, stdout + stderr);
  assert.match(
    stdout,
    /^VERIFIED: 1097 accounts, 11 storage trees, 1477 slots, 11 codes of block 90 under the root 0x36b/m,
  );
  assert.match(
    stdout,
    /^VERIFIED: 54 changed accounts, 69 changed slots from block 90 to 100 under the root 0x056/m,
  );
  const verified = await runAllHere(["state", "changes"].map(name => ["pull", "--verify", join(cwd, name)]));
  assert.deepEqual(
    verified.map(({code}) => code),
    [0, 0],
  );
  await t.test("a replica that begins with the pulled state answers as the demo chain does", () =>
    compareReplica(cwd),
  );
  const printed = (kind: string) =>
    readBlocks(page).flatMap(({language, text}) => (language === kind ? [text] : []));
  const [richest, holders, changed] = printed("python");
  const [next, numbers] = printed("sql").map(sql => `import duckdb\nprint(duckdb.sql(r"""${sql}"""))\n`);
  const {stateRoot} = (await demo.call("chain_getStateRoot", ["0x64"])).result;
  const pull = ["--url", demo.url, "--block", "100", "--root", stateRoot, "--all", "--format", "parquet"];
  assert.equal((await runHere(["pull", ...pull, "--out", join(cwd, "next")])).code, 0);
  for (const [tool, query, answer] of [
    ["duckdb", richest, /0x[0-9a-f]{40}[^\n]*1000000000000000000000/],
    ["duckdb: the next state's rows", next + COMPARE_NEXT, /\n1103 rows\n1507 rows\n$/],
    ["duckdb: numbers", numbers, /0xeb61487831b91adb1b3d1e863501b4d107f55f86[^\n]* 0 [^\n\d]*\d+ /],
    [
      "duckdb, pycryptodome",
      holders,
      /0xdd6c8a36e115d71fd7d75306a6aa168b200ea841[^\n]*965000000000000000000000/,
    ],
    ["pandas, pyarrow", changed, /60927dc0b141946cfefb83e0017310f5053adccb\s+changed\s+39/],
  ] as const)
    await t.test(`${tool} reads the files`, async part => {
      const read = await runChild("python3", ["-c", query as string], {cwd}).catch(() => undefined);
      if (read === undefined || read.stderr.includes("ModuleNotFoundError"))
        return notRun(part, `there is no python3 with ${tool}`);
      assert.equal(read.code, 0, read.stderr);
      assert.match(read.stdout, answer);
    });
});

test("while a large storage tree is pulled its leaves are counted, and small trees are counted by accounts", async () => {
  const {stateRoot} = (await demo.call("chain_getStateRoot", ["0x5a"])).result;
  const args = [
    "--url",
    demo.url,
    "--block",
    "90",
    "--root",
    stateRoot,
    "--all",
    "--out",
    join(folder, "shown"),
  ];
  const shown = new Map<string, PhaseProgress[]>();
  const {rows} = await pullSmall(args, 1e9, undefined, (phase, progress) => {
    shown.set(phase, [...(shown.get(phase) ?? []), progress as PhaseProgress]);
  });
  const ledger = `storage of ${addresses.ledger.address.slice(0, 10).toLowerCase()}`;
  assert.ok(shown.get("storage")?.every(({unit, total}) => unit === "accounts" && total >= 1099));
  const total = shown.get(ledger)?.at(-1)?.total as number;
  assert.ok(total > 1000 && total <= (rows.slots as number), String(total));
  for (const [phase, unit] of [
    ["accounts", "leaves"],
    [ledger, "leaves"],
    ["codes", "codes"],
  ] as const) {
    const steps = shown.get(phase) ?? [];
    assert.ok(steps.every((step, i) => step.unit === unit && step.done > (steps[i - 1]?.done ?? 0)));
    assert.equal(steps.at(-1)?.done, steps.at(-1)?.total);
  }
  assert.ok((shown.get(ledger)?.length ?? 0) > 100);
});

/** Prints how many rows the made tables have, if they are those that were pulled in their order. */
const COMPARE_NEXT = `
for table in ("accounts", "slots"):
    made = duckdb.sql(f"FROM 'next_{table}.parquet'").fetchall()
    assert made == duckdb.sql(f"FROM 'next/{table}-*.parquet'").fetchall(), table
    print(len(made), "rows")
`;

/** Imports the folder `state` of block 90, and asks the new store and the demo chain the same. */
async function compareReplica(cwd: string): Promise<void> {
  const db = join(cwd, "replica");
  const imported = await runHere(["import", "--db", db, "--pull", join(cwd, "state")]);
  assert.equal(imported.code, 0, imported.stderr);
  assert.deepEqual((await checkStore(db)).found, []);
  const replica = await OwnService.serve(["--db", db, "--workers", "1"], {estimates: true});
  try {
    const {token, ledger} = addresses;
    const transfer = {
      from: token.holder,
      to: token.address,
      data: `0xa9059cbb${"01".padStart(64, "0")}${"1".padStart(64, "0")}`,
    };
    for (const [method, params] of [
      ["chain_getHeader", []],
      ["chain_getProofAt", [token.address, [token.holderBalanceSlot, token.clearedSlot]]],
      ["chain_getLeaves", [ledger.address, "0x0", "0x1000"]],
    ] as const) {
      const [expected, got] = await Promise.all(
        [demo, replica].map(one => one.call(method, [...params, "0x5a"])),
      );
      assert.ok("result" in (got as object), JSON.stringify(got));
      assert.deepEqual(got, expected, method);
    }
    const estimate = await replica.call("chain_estimateGas", [transfer, "0x5a"]);
    assert.ok("result" in estimate, JSON.stringify(estimate));
  } finally {
    await replica.stop();
  }
}

test("the commands for a load test run against the demo chain and print what is printed", async () => {
  const lines = commandLines(loadPage, "demo").filter(([command]) => command === "load");
  assert.equal(lines.length, 2);
  const variables = {
    PROOFD_LOAD_URL: demo.url,
    PROOFD_LOAD_DURATION: "1",
    PROOFD_LOAD_WARM_UP: "0",
    PROOFD_LOAD_CONNECTIONS: "1",
  };
  for (const line of lines) {
    const args = line
      .filter((word, i) => word !== "--url" && line[i - 1] !== "--url")
      .map(word => (word.endsWith(".html") ? join(folder, word) : word));
    const {code, stdout, stderr} = await runHere(args, variables);
    assert.equal(code, stdout.endsWith(`FAILED: ${GENERATOR_WAS_LIMIT}\n`) ? 3 : 0, stdout + stderr);
    assert.match(stdout, /328 accounts of the demo chain/);
    assert.match(stdout, /^verified +([1-9]\d*) answers?, all right: \1 accounts? present, 0 absent$/m);
    if (args.includes("--html")) await access(args[args.indexOf("--html") + 1] as string);
    // The rows of the report that docs/load.md prints are those of a real one.
    const printed = /```\n(open loop[\s\S]*?)\n```/.exec(loadPage)?.[1] ?? "";
    assert.ok(printed.includes("from due"));
    const labels = (text: string) => text.match(/^[a-z][a-z ,]*?(?= {2})/gm) ?? [];
    if (line.includes("--rate"))
      assert.deepEqual(labels(printed), labels(stdout).slice(0, labels(printed).length));
  }
});

/** The anchors of a page's headings, as GitHub makes them. */
function headingAnchors(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    (title as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every link between the documents leads to a file, and to a heading where it names one", async () => {
  for (const [path, page] of documents) {
    const targets = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target as string);
    for (const target of targets.filter(target => !target.startsWith("https:"))) {
      const [file, anchor] = target.split("#") as [string, string?];
      const linked = file === "" ? path : join(dirname(path), file);
      await access(join(ROOT, linked));
      if (anchor !== undefined)
        assert.ok(headingAnchors(documents.get(linked) ?? "").includes(anchor), `${path}: ${target}`);
    }
  }
});

test("every file and npm script that the documents name exists", async () => {
  const {scripts} = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  for (const [path, page] of documents) {
    for (const [, file] of page.matchAll(
      /`((?:bench|cli|client|demo|deploy|docs|evm|load|nodes|page|server|storage|test|workers)\/[\w./]*)`/g,
    ))
      await access(join(ROOT, file as string)).catch(() => assert.fail(`${path}: there is no ${file}`));
    for (const [, script] of page.matchAll(/npm run ([a-z:]+)/g))
      assert.ok((script as string) in scripts, `${path}: npm run ${script}`);
  }
});

test("lines of documents have at most 120 columns, but for tables and what cannot be broken", () => {
  for (const [path, page] of documents)
    for (const [at, line] of page.split("\n").entries()) {
      const isFree = line.startsWith("|") || /\S{60}/.test(line) || path.includes("CHANGELOG");
      assert.ok(isFree || [...line].length <= 120, `${path}:${at + 1} has ${[...line].length} columns`);
    }
});

test("every flag of proofd that the documents name is a flag of one of its commands", async () => {
  const helps = await runAllHere(COMMANDS.map(command => [command, "--help"]));
  const known = new Set(["--help", ...helps.flatMap(({stdout}) => stdout.match(/--[a-z0-9-]+/g) ?? [])]);
  for (const page of [
    "README",
    "SECURITY",
    "docs/operations",
    "docs/json-rpc",
    "docs/gas",
    "docs/load",
    "docs/pulling",
  ]) {
    const text = (documents.get(join(`${page}.md`)) as string).replace(
      /(npm (?:run|install)|node examples\/|solc )[^`\n]*/g,
      "",
    );
    for (const [flag] of text.matchAll(/--[a-z][a-z0-9-]+/g))
      assert.ok(flag.endsWith("-") || known.has(flag), `${page}: ${flag}`);
  }
});
