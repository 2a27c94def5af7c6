/** `proofd pull` from a real service: every choice and format, kills and resumes, lies, and folders that are verified. */
import assert from "node:assert/strict";
import {existsSync, readdirSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {checkFolder} from "../../../client/folder/folderCheck.ts";
import {FORMAT_NAMES} from "../../../client/folder/format/formatName.ts";
import {type Manifest, readManifest} from "../../../client/folder/manifest.ts";
import {PulledError} from "../../../client/folder/pulledError.ts";
import {readRows} from "../../../client/folder/readRows.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, createLines} from "../../support/chains/serviceChain.ts";
import {ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import {JsonRpcServer} from "../../support/nodes/jsonRpcServer.ts";
import {Daemon} from "../../support/processes/daemon.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {double, dropFirst, forgeFolder, forgePart} from "../../support/pulled/forgedFolder.ts";
import {pullSmall} from "../../support/pulled/smallPull.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";
import {isSoak, propertyRuns} from "../../support/soak.ts";

const PULL_PROCESS = fileURLToPath(new URL("../../support/pulled/pullProcess.js", import.meta.url));
const SMALL_PARTS = 2500;
/** No file may have more than 4 KB, as on a disk that gets full. The units are 512 bytes. */
const LIMITED = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh"];
const [OWNER, OTHER] = ACCOUNTS as readonly [string, string];

let service: ProvenService;
let proxy: ForwardingProxy;
let root: string;
let keys: string;
const state = new ReferenceState(sha256Suite, createLines(0, LATEST));
before(async () => {
  service = await ProvenService.start();
  proxy = await ForwardingProxy.to(service.daemon.url);
  root = encodeHex(service.root(FINALIZED));
  const lines = [`${OWNER} 0x1 0x3 0x9999 # one is absent`, "", ABSENT_ACCOUNT, ...ACCOUNTS.slice(5)];
  keys = await service.write("keys.txt", lines.join("\n"));
});
after(async () => {
  await proxy.stop();
  await service.stop();
});

let folders = 0;
const newFolder = (): string => service.path(`pull${folders++}`);

/** Flags of a pull through the proxy. */
function flags(folder: string, choice: readonly string[], ...more: readonly string[]): string[] {
  const from = ["--url", proxy.url.href, "--block", String(FINALIZED), "--root", root];
  return [...from, ...choice, "--out", folder, ...more];
}

/** The files of a folder, without the command in the manifest. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder).sort();
  return Object.fromEntries(
    files.map(file => {
      const text = readFileSync(join(folder, file), "latin1");
      return [file, file === "manifest.json" ? text.replace(/"command": .*\n/, "") : text];
    }),
  );
}

const CHOICES: Readonly<Record<string, () => readonly string[]>> = {
  all: () => ["--all"],
  accounts: () => ["--accounts"],
  storage: () => [
    "--storage",
    `${OTHER},${OWNER.toUpperCase().replace("0X", "0x")}`,
    "--storage",
    ABSENT_ACCOUNT,
  ],
  keys: () => ["--keys", keys],
  changes: () => ["--changes-from", "1", "--from-root", encodeHex(service.root(1))],
};

async function verify(folder: string, ...more: readonly string[]) {
  return runHere(["pull", "--verify", folder, ...more]);
}

/** What is in a folder with whole trees, as the reference tells it: by address, the balance and the slots. */
async function readState(folder: string): Promise<Map<string, [bigint, Map<bigint, bigint>]>> {
  const held = new Map<string, [bigint, Map<bigint, bigint>]>();
  for await (const one of readRows(folder)) {
    if (one.kind === "account")
      held.set(encodeHex(one.row.address as Uint8Array), [one.row.balance, new Map()]);
    if (one.kind === "slot")
      held.get(encodeHex(one.row.address))?.[1].set(one.row.slot as bigint, one.row.value);
  }
  return held;
}

test("each choice is pulled, in any format, and verified again without the server", async () => {
  const rows = Object.entries(CHOICES).map(([name, choice], at) => {
    return [name, choice(), FORMAT_NAMES[at % FORMAT_NAMES.length] as string] as const;
  });
  for (const [name, choice, format] of [
    ...rows,
    ["all", ["--all"], "csv"],
    ["all", ["--all"], "parquet"],
  ] as const) {
    const folder = newFolder();
    const {code, stdout, stderr} = await runHere(["pull", ...flags(folder, choice, "--format", format)]);
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^VERIFIED: \d+ (changed )?accounts?[^\n]* under the root 0x\w{64}, given by --root\n/,
    );
    const again = await verify(folder);
    assert.equal(again.code, 0, again.stderr);
    assert.equal(again.stdout.split(",")[0], stdout.split(",")[0]);
    assert.ok(again.stdout.includes("that of its manifest"));
    const {asked} = readManifest(folder);
    assert.deepEqual([asked.pulled, asked.format], [name, format]);
  }
});

test("a pull of all is the state of the reference, account by account and slot by slot", async () => {
  const folder = newFolder();
  await pullSmall(flags(folder, ["--all"]), SMALL_PARTS);
  const held = await readState(folder);
  assert.equal(held.size, ACCOUNTS.length);
  for (const address of ACCOUNTS) {
    const account = state.readAccount(FINALIZED, address);
    assert.deepEqual(held.get(address), [account?.balance, new Map(account?.slots)], address);
  }
});

test("a pull of keys has a row for each account and slot that was asked for, in its order", async () => {
  const folder = newFolder();
  const {rows} = await pullSmall(flags(folder, ["--keys", keys]), SMALL_PARTS);
  assert.deepEqual(rows, {accounts: 1 + ACCOUNTS.length - 5, absent: 1, values: 3, proofs: 1});
  const values = readFileSync(join(folder, "values-000001.ndjson"), "utf8").trim().split("\n");
  assert.deepEqual(
    values
      .map(line => JSON.parse(line))
      .map(({address, slot, value}) => [address, BigInt(slot), BigInt(value)]),
    [1n, 3n, 0x9999n].map(slot => [OWNER, slot, state.readAccount(FINALIZED, OWNER)?.slots.get(slot) ?? 0n]),
  );
});

test("a pull of changes has what differs in the reference, with both values, and nothing else", async () => {
  const folder = newFolder();
  const {rows} = await pullSmall(flags(folder, CHOICES.changes?.() ?? []), SMALL_PARTS);
  const read = (table: string): Record<string, string>[] =>
    readdirSync(folder)
      .filter(file => file.startsWith(`${table}-`))
      .flatMap(file => readFileSync(join(folder, file), "utf8").trim().split("\n"))
      .map(line => JSON.parse(line));
  const [accounts, slots] = [read("account_changes"), read("slot_changes")];
  assert.deepEqual([rows.account_changes, rows.slot_changes], [accounts.length, slots.length]);
  const balances = ACCOUNTS.flatMap(address => {
    const [before, after] = [1, FINALIZED].map(block => state.readAccount(block, address)?.balance);
    return before === after ? [] : [[address, `${before}`, `${after}`]];
  });
  assert.ok(balances.length > 5);
  assert.deepEqual(
    accounts.map(row => [row.address, row.balance_before, row.balance_after]).sort(),
    balances.sort(),
  );
  const firsts = ACCOUNTS.flatMap(address => {
    const [before, after] = [1, FINALIZED].map(block => state.readAccount(block, address)?.slots.get(1n));
    return before === after ? [] : [[address, 1n, before, after]];
  });
  const text = (row: readonly unknown[]) => row.join();
  assert.deepEqual(
    slots
      .map(row =>
        text([row.address, ...["slot", "value_before", "value_after"].map(name => BigInt(row[name] ?? 0))]),
      )
      .sort(),
    firsts.map(text).sort(),
  );
});

test("changes from a folder are those from its block and root", async () => {
  const start = newFolder();
  const first = ["--url", service.daemon.url, "--block", "1", "--root", encodeHex(service.root(1))];
  assert.equal((await runHere(["pull", ...first, "--accounts", "--out", start])).code, 0);
  const [named, since] = [newFolder(), newFolder()];
  assert.equal((await runHere(["pull", ...flags(named, CHOICES.changes?.() ?? [])])).code, 0);
  const {code, stderr} = await runHere(["pull", ...flags(since, ["--changes-from", start])]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(contents(since), contents(named));
  for (const [choice, message] of [
    [
      ["--changes-from", since],
      /expected one of a block below --block \(4\) .*; the pull in \S+ is of block 4/,
    ],
    [["--changes-from", start, "--suite", "poseidon2"], /with the suite poseidon2; .* with the suite sha256/],
    [["--changes-from", newFolder()], /--changes-from: \S+: there is no pull/],
    [["--changes-from", start, "--from-root", root], /--from-root has no effect: the manifest in/],
  ] as const) {
    const {code, stderr} = await runHere(["pull", ...flags(newFolder(), choice)]);
    assert.ok(code === 1 || code === 2, stderr);
    assert.match(stderr, message);
  }
});

/** Pulls until the service has been asked `requests` times, and stops in order. @returns whether the pull was over before */
async function stopAfter(requests: number, args: readonly string[]): Promise<boolean> {
  const stop = new AbortController();
  let asked = 0;
  proxy.change = (_, forward) => {
    if (++asked > requests) stop.abort(new Error("enough"));
    return forward();
  };
  try {
    await pullSmall(args, SMALL_PARTS, stop.signal);
    return true;
  } catch (error) {
    assert.match(String(error), /(the pull stopped|nothing was pulled): enough/);
    return false;
  }
}

test("a pull that is stopped after any request and resumed has the files of one that was not, in each choice", async () => {
  let drafts = 0;
  for (const [at, choice] of Object.values(CHOICES).entries()) {
    const flagsOf = (folder: string) =>
      flags(folder, choice(), "--format", FORMAT_NAMES[at % FORMAT_NAMES.length] as string);
    const undisturbed = newFolder();
    proxy.change = (_, forward) => forward();
    await pullSmall(flagsOf(undisturbed), SMALL_PARTS);
    for (let step = 3; step < 3 + propertyRuns(1); step++) {
      const folder = newFolder();
      const args = [...flagsOf(folder), "--resume"];
      // A resumed pull asks for some things again, so each time it may ask a little more.
      for (let requests = step; !(await stopAfter(requests, args)); requests += isSoak() ? 2 : 8)
        if (existsSync(folder)) drafts += readdirSync(folder).filter(file => file.includes(".draft")).length;
      assert.deepEqual(contents(folder), contents(undisturbed), `${args}, ${step}`);
    }
  }
  assert.ok(drafts > 3, String(drafts));
});

/** Changes the last hex digit, or a byte near the end, of the answer to request number `at`. */
function lieAt(at: number): void {
  let asked = 0;
  proxy.change = async (_, forward) => {
    const isLie = ++asked === at;
    const answer = await forward();
    if (!isLie) return answer;
    if (answer.type !== "application/json") {
      answer.body.writeUInt8(answer.body.readUInt8(answer.body.length - 9) ^ 1, answer.body.length - 9);
      return answer;
    }
    const text = answer.body.toString().replace(/[0-9a-f](?="[^"]*$)/, digit => (digit === "7" ? "8" : "7"));
    return {...answer, body: Buffer.from(text)};
  };
}

test("a server that alters a byte is refused with exit code 1, and a resume from an honest one completes the pull", async () => {
  // The first two requests are about suite and block, and nothing is proved by them. Of all, the third one has the accounts.
  for (const choice of [
    ["--accounts"],
    ["--all"],
    ["--storage", OWNER],
    ["--keys", keys],
    CHOICES.changes?.() as string[],
  ]) {
    const isAll = choice[0] === "--all";
    const folder = newFolder();
    lieAt(isAll ? 4 : 3);
    const {code, stderr} = await runHere(["pull", ...flags(folder, choice)]);
    assert.equal(code, 1, stderr);
    const said = isAll
      ? // The storage of all comes in two answers, asked for at the same time.
        /^error: the pull stopped: [^\n]+\. \d+ verified rows stay in \S+; --resume continues it from another server, given by --url\n$/
      : /^error: nothing was pulled: what the server sent does not verify: [^\n]+; is the root that of the block given by --block\?\n$/;
    assert.match(stderr, said);
    assert.equal(existsSync(folder), isAll);
    assert.equal((await verify(folder)).code, 1, "it is not complete");
    proxy.change = (_, forward) => forward();
    const resumed = await runHere(["pull", ...flags(folder, choice, "--resume")]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal((await verify(folder)).code, 0);
  }
});

test("a server with another suite, or with Ethereum's tries alone, is refused by name before a folder is made", async () => {
  const refusals = {
    keccak: /^error: --suite: expected a server with sha256, got one with keccak: .* no trees to pull\n$/,
    poseidon2: /^error: --suite: expected "poseidon2", that of the server, got sha256\n$/,
  };
  for (const [suite, refusal] of Object.entries(refusals)) {
    proxy.change = async (_, forward) => {
      const answer = await forward();
      return {...answer, body: Buffer.from(answer.body.toString().replace('"sha256"', `"${suite}"`))};
    };
    for (const choice of Object.values(CHOICES))
      for (const more of [[], ["--resume"]]) {
        const folder = newFolder();
        const {code, stderr} = await runHere(["pull", ...flags(folder, choice(), ...more)]);
        assert.equal(code, 1);
        assert.match(stderr, refusal);
        assert.ok(!existsSync(folder));
      }
  }
});

test("SIGINT ends a pull with exit code 130, and it can be resumed", async () => {
  const folder = newFolder();
  let asked = 0;
  proxy.change = (_, forward) => {
    if (++asked < 4) return forward();
    pull.child.kill("SIGINT");
    return new Promise(() => {}); // no answer: only the signal ends the pull
  };
  const pull = new Daemon(["pull", ...flags(folder, ["--all"])]);
  const {code, stderr} = await pull.finished;
  assert.equal(code, 130, stderr);
  assert.match(
    stderr,
    /the pull stopped: SIGINT came\. 40 verified rows stay in \S+; --resume continues it\n$/,
  );
  proxy.change = (_, forward) => forward();
  const resumed = await runHere(["pull", ...flags(folder, ["--all"], "--resume")]);
  assert.equal(resumed.code, 0, resumed.stderr);
});

test("the roots of both blocks come from the contract on layer 1, and a folder is verified against it", async t => {
  // Layer 1 is whatever answers eth_call with the root that the contract would hold.
  const layer1 = new JsonRpcServer(({id, params}) => {
    const [{data}] = params as [{readonly data: string}];
    return {jsonrpc: "2.0", id, result: encodeHex(service.root(Number(`0x${data.slice(-64)}`)))};
  });
  await layer1.start();
  t.after(() => layer1.stop());
  const trust = ["--l1", layer1.url, "--rollup", OWNER];
  const from = ["--rollup", OWNER, "--block", String(FINALIZED), "--changes-from", "2"];
  const folder = newFolder();
  const secrets = {
    PROOFD_L1: `${layer1.url}/v3/secret-of-layer1`,
    PROOFD_L1_HEADER: "Authorization: Bearer secret1",
    PROOFD_URL: `${proxy.url.origin}/?apikey=secret-of-url`,
    PROOFD_HEADER: "Authorization: Bearer secret2",
  };
  let asked = 0;
  const authorizations = new Set();
  proxy.change = async ({head}, forward) => {
    authorizations.add(head.headers.authorization);
    if (++asked > 2) return forward();
    const said = `no ${head.url} for ${head.headers.authorization}`;
    const end = asked === 1 ? {error: {code: -32000, message: said}} : {result: {earliest: said}};
    const body = Buffer.from(JSON.stringify({jsonrpc: "2.0", id: 1, ...end}));
    return {status: 200, type: "application/json", body};
  };
  const stopped = await runHere(["pull", ...from, "--out", folder], secrets);
  assert.equal(stopped.code, 1);
  const misled = await runHere(["pull", ...from, "--out", folder, "--resume"], secrets);
  assert.match(misled.stderr, /got "no \/\?apikey=\*\*\* for \*\*\*"/);
  assert.match(stopped.stderr, /the server refused \(-32000\): no \/\?apikey=\*\*\* for \*\*\*/);
  // Another URL of the same block and root goes on.
  const {PROOFD_URL: _, ...others} = secrets;
  const args = ["pull", ...from, "--url", service.daemon.url, "--out", folder, "--resume"];
  const {code, stdout, stderr} = await runHere(args, others);
  assert.equal(code, 0, stderr);
  assert.deepEqual([...authorizations], ["Bearer secret2"]);
  const {command} = readManifest(folder);
  assert.ok(command.startsWith(`PROOFD_HEADER=*** PROOFD_L1=${layer1.url}/*** PROOFD_L1_HEADER=*** proofd `));
  assert.doesNotMatch(stopped.stderr + misled.stderr + JSON.stringify(contents(folder)) + stdout, /secret/);
  assert.match(
    stdout,
    /from block 2 to 4 under the root 0x\w{64}, of block 4, as the contract 0x\w{40} holds it on layer 1/,
  );
  assert.equal((await verify(folder, ...trust)).code, 0);
  const {stderr: refusal} = await verify(folder, "--root", root, "--from-root", root);
  assert.match(refusal, /expected the root 0x\w{64}, given by --root, got a pull under the root 0x/);
});

test("a journal or manifest for which the disk has too little room is not taken as written, and a resume completes it", async () => {
  const folder = newFolder();
  const args = flags(folder, ["--all"]);
  const stopped = await new Daemon([String(SMALL_PARTS), ...args], {main: PULL_PROCESS, under: LIMITED})
    .finished;
  assert.equal(stopped.code, 1, stopped.stderr);
  assert.match(
    stopped.stderr,
    /cannot write \S+(manifest\.json\.partial|progress\.ndjson): EFBIG: file too large/,
  );
  const {code, stderr} = await runHere(["pull", ...args, "--resume"]);
  assert.equal(code, 0, stderr);
});

test("a folder that is there is refused by its flag", async () => {
  const folder = newFolder();
  await pullSmall(flags(folder, ["--accounts"]), SMALL_PARTS);
  const {code, stderr} = await runHere(["pull", ...flags(folder, ["--accounts"])]);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /--out: \S+ has a complete pull$/m);
});

test("flags that do not fit are refused with exit code 2 before any work", async () => {
  const wrong: readonly [readonly string[], RegExp][] = [
    [flags("x", []), /exactly one of --all, --accounts, --storage, --keys and --changes-from/],
    [flags("x", ["--all", "--accounts"]), /exactly one of/],
    [flags("x", ["--changes-from", "4"]), /--changes-from: expected a block below --block \(4\), got 4/],
    [flags("x", ["--changes-from", "3"]), /--changes-from with --root needs --from-root/],
    [
      flags("x", ["--all"], "--from-root", root),
      /--from-root has no effect without --changes-from or --verify/,
    ],
    [flags("x", ["--storage", `${OWNER},${OWNER}`]), /--storage: expected each address once/],
    [flags("x", ["--storage", "0x12"]), /Expected an address/],
    [
      flags("x", ["--all"], "--l1", "http://127.0.0.1:1", "--rollup", OWNER),
      /one of --root and --l1, got both/,
    ],
    [flags("x", ["--all"], "--rollup", OWNER), /--rollup has no effect without --l1/],
    [["--url", "http://127.0.0.1:1", "--block", "1", "--all", "--out", "x"], /expected a root to trust/],
    [["--root", `0x${"00".repeat(32)}`, "--all"], /expected --url, --block and --out, or --verify/],
    [["--l1-heder=Authorization: secret"], /unknown option '--l1-heder=\*\*\*'/],
    [["--verify", "x", "--all"], /--all has no effect with --verify/],
    [["--verify", "x", "--format", "csv"], /--format has no effect with --verify|Allowed choices/],
  ];
  for (const [args, message] of wrong) {
    const {code, stderr} = await runHere(["pull", ...args]);
    assert.equal(code, 2, `${args}: ${stderr}`);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /secret/);
  }
  const {stderr: refusal} = await runHere(["serve", "--publish", "natz://me:secret@n1"]);
  assert.match(refusal, /argument 'natz:\/\/\*\*\*@n1' is invalid/);
  const bad = await service.write("bad.txt", `${OWNER}\n0x12\n`);
  const {code, stderr} = await runHere(["pull", ...flags(newFolder(), ["--keys", bad])]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /--keys \S+bad\.txt: line 2: expected an address \(0x and 40 hex digits\), got '0x12'/,
  );
});

test("a forged row, a missing one and a doubled one are found, also where the manifest agrees with them", async () => {
  const all = newFolder();
  await pullSmall(flags(all, ["--all"]), SMALL_PARTS);
  const asked = newFolder();
  await pullSmall(flags(asked, ["--keys", keys]), SMALL_PARTS);
  const changed = newFolder();
  await pullSmall(flags(changed, CHOICES.changes?.() ?? []), SMALL_PARTS);
  const storage = newFolder();
  await pullSmall(flags(storage, CHOICES.storage?.() ?? []), SMALL_PARTS);
  const forgeries: [string, string, (text: string) => string, RegExp][] = [
    [all, "accounts-000002.ndjson", dropFirst, /the account tree: expected leaves with the root/],
    [
      all,
      "slots-000001.ndjson",
      text => text.replace(/("value":"0x0*)[1-9]/, "$19"),
      /trees-000001\.ndjson, row 1: expected leaves with the root/,
    ],
    [
      all,
      "trees-000001.ndjson",
      dropFirst,
      /account_index: expected \d+, the next account with storage|account_index: expected \d+, of leaf/,
    ],
    [
      all,
      "trees-000001.ndjson",
      text => text.replace(/"next_free_node":5/, '"next_free_node":6'),
      /row 1: expected leaves with the root/,
    ],
    [
      asked,
      "values-000001.ndjson",
      text => text.replace(/("value":"0x0*)[1-9]/, "$19"),
      /values-000001\.ndjson, row 1: expected the row that .*proofs-000001\.ndjson, row 1 proves/,
    ],
    [asked, "accounts-000001.ndjson", dropFirst, /accounts-000001\.ndjson, row 1: expected the row/],
    [asked, "absent-000001.ndjson", double, /absent-000001\.ndjson, row 2: no proof proves the row/],
    [
      asked,
      "proofs-000001.ndjson",
      text => text.replace(/0"\}\n$|[1-9a-f]"\}\n$/, '7"}\n'),
      /proofs-000001\.ndjson, row 1: /,
    ],
    [storage, "proofs-000001.ndjson", () => "", /expected a proof of the account 0x[0-9a-f]{40}/],
    [
      storage,
      "trees-000001.ndjson",
      dropFirst,
      /account_index: expected \d+, the next account with storage, got \d+/,
    ],
    [
      changed,
      "account_changes-000001.ndjson",
      dropFirst,
      /account_changes-000001\.ndjson, row 1: expected the row that .*proofs-/,
    ],
    [
      changed,
      "slot_changes-000001.ndjson",
      double,
      /slot_changes-00000\d\.ndjson, row \d: expected the row|no proof proves the row/,
    ],
    [
      changed,
      "proofs-000001.ndjson",
      dropFirst,
      /proofs-000001\.ndjson, row 1: entries: expected the changes from 0 on/,
    ],
    [
      changed,
      "proofs-000001.ndjson",
      text =>
        text.replace(/(?<="proof":"0x04[0-9a-f]{152}).{4}/, digits => (digits === "0000" ? "1111" : "0000")),
      /proofs-000001\.ndjson, row 1: toBlock: expected block \d+ with hash 0x\w{64}, got \d+ with 0x(0000|1111)/,
    ],
    [
      changed,
      "proofs-000001.ndjson",
      text => text.replace(/[^\n]*\n$/, ""),
      /expected a proof of the changes from \d+ on|entries: expected the changes from/,
    ],
  ];
  for (const [folder, file, change, message] of forgeries) {
    const {code, stderr} = await verify(forgeFolder(folder, newFolder(), file, change));
    assert.equal(code, 1, `${file}: ${message}`);
    assert.match(stderr, message);
  }
  assert.equal((await verify(all, "--root", root)).code, 0);
  const {code, stderr} = await verify(all, "--root", `0x${"00".repeat(32)}`);
  assert.equal(code, 1);
  assert.match(stderr, /expected the root 0x0{64}, given by --root, got a pull under the root 0x/);
  const other = (text: string): Manifest => JSON.parse(text.replaceAll(root, `0x${"11".repeat(32)}`));
  writeFileSync(
    join(all, "manifest.json"),
    JSON.stringify(other(readFileSync(join(all, "manifest.json"), "utf8"))),
  );
  assert.match((await verify(all)).stderr, /the account tree: expected leaves with the root 0x1111/);
});

/** Whether the folder is refused with the part replaced. Puts the folder back. */
async function isFound(folder: string, file: string, bytes: Buffer): Promise<boolean> {
  const paths = ["manifest.json", file].map(name => join(folder, name));
  const held = paths.map(path => readFileSync(path));
  try {
    forgePart(folder, file, bytes);
    await checkFolder(folder, readManifest(folder));
    return false;
  } catch (error) {
    assert.ok(error instanceof PulledError && error.code === "DAMAGED", `${file}: ${error}`);
    return true;
  } finally {
    for (const [at, path] of paths.entries()) writeFileSync(path, held[at] as Buffer);
  }
}

/** Another value of the same kind. */
function lieAbout(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value !== "string") return `0x${"11".repeat(32)}`;
  return value.startsWith("0x")
    ? value.replace(/.$/, digit => (digit === "7" ? "8" : "7"))
    : `${BigInt(value) + 1n}`;
}

test("a lie about any column of any table is found, in its last row too, and so is a second field of its name", async () => {
  let lies = 0;
  for (const choice of ["all", "storage", "keys", "changes"]) {
    const folder = newFolder();
    await pullSmall(flags(folder, CHOICES[choice]?.() ?? []), 1e9);
    for (const {file} of readManifest(folder).parts) {
      const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");
      const last = JSON.parse(lines.at(-1) as string);
      for (const name of Object.keys(last)) {
        const lie = JSON.stringify({...last, [name]: lieAbout(last[name])});
        const before = `{"${name}":${JSON.stringify(lieAbout(last[name]))},`;
        for (const line of [lie, before + lines.at(-1)?.slice(1)]) {
          const text = `${[...lines.slice(0, -1), line].join("\n")}\n`;
          assert.ok(await isFound(folder, file, Buffer.from(text)), `${choice}, ${file}: ${line}`);
          lies++;
        }
      }
    }
  }
  assert.ok(lies > 100, String(lies));
});

/** Of a file: some bytes of its pages, statistics and schema. SOAK=1000 takes each. */
const FLIPS = 5;

test("a Parquet file with any bit flipped is found, also where its checksum fits", async () => {
  for (const choice of ["all", "storage", "changes"]) {
    const folder = newFolder();
    await pullSmall(flags(folder, [...(CHOICES[choice]?.() ?? []), "--format", "parquet"]), 1e9);
    for (const {file, table} of readManifest(folder).parts) {
      // A proof of changes has hashes of blocks, which nothing proves and no table has.
      if (choice === "changes" && table === "proofs") continue;
      const bytes = readFileSync(join(folder, file));
      const step = Math.max(1, bytes.length / propertyRuns(FLIPS));
      for (let place = 0; place < bytes.length; place += step) {
        const at = Math.floor(place);
        const forged = Buffer.from(bytes);
        forged.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
        assert.ok(await isFound(folder, file, forged), `${file}, byte ${at}`);
      }
    }
  }
});
