/** `proofd bench` against the real service, and against servers that stall, fail and lie. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import type {LoadReport} from "../../load/report.ts";
import {Daemon, type Finished, runProofd, startDaemon} from "../support/daemon.ts";
import {type ForeignCall, ForeignServer, sendJson, sendResults} from "../support/foreignServer.ts";
import {ACCOUNTS, WorkFolder} from "../support/serviceChain.ts";

const FINALIZED = 3;
const SHORT = ["--duration", "1", "--warm-up", "0", "--json"];

let folder: WorkFolder;
let daemon: Daemon;
let keys: string;

before(async () => {
  folder = await WorkFolder.create();
  daemon = await startDaemon(["--db", await folder.importChain("db", 5, FINALIZED)]);
  keys = folder.file("keys.txt");
  await writeFile(keys, ACCOUNTS.map(address => `${address} 0x1 0x2 0x3 # of block 0\n`).join(""));
});

after(async () => {
  await daemon.stop();
  await folder.remove();
});

interface Outcome extends Finished {
  readonly report: LoadReport;
}

/** A short run whose report is JSON. */
async function runBench(url: string, args: readonly string[]): Promise<Outcome> {
  const finished = await runProofd(["bench", "--url", url, ...SHORT, ...args]);
  assert.match(finished.stdout, /^\{.*\}\n$/, finished.stderr);
  return {...finished, report: JSON.parse(finished.stdout)};
}

/** Whatever happened: every request and every call is counted once. */
function assertAddsUp({requests, calls, errors, settings, timeline, latency}: LoadReport): void {
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const listed = (kind: "rpc" | "http" | "socket") => sum(errors[kind].map(({count}) => count));
  assert.equal(requests.answered + requests.failed, requests.due);
  assert.equal(listed("http") + listed("socket") + errors.timeouts, requests.failed);
  assert.equal(calls.results + calls.errors + calls.malformed + calls.lost, calls.due);
  assert.equal(calls.due, requests.due * settings.batch);
  assert.equal(listed("rpc"), calls.errors);
  assert.equal(errors.malformed, calls.malformed);
  // Without a warm-up, what arrived is what was due, in the measured time or after it.
  assert.equal(sum(timeline.map(row => row.answered + row.failed)) + requests.late, requests.due);
  if (latency !== null) {
    const {p50Ms, p90Ms, p99Ms, p999Ms, maxMs, distribution} = latency;
    const ascending = [p50Ms, p90Ms, p99Ms, p999Ms, maxMs];
    assert.deepEqual(
      ascending.toSorted((a, b) => a - b),
      ascending,
    );
    assert.deepEqual(distribution.at(-1), [100, maxMs]);
  }
}

test("a closed loop's report adds up, and its sampled answers are right", async () => {
  const {report, code, stderr} = await runBench(daemon.url, [
    "--keys",
    keys,
    "--connections",
    "3",
    "--threads",
    "2",
  ]);
  assert.equal(code, 0);
  assert.equal(stderr, "", "nothing is shown where standard error is no terminal");
  assertAddsUp(report);
  assert.equal(report.loop, "closed");
  assert.equal(report.settings.keys, `${ACCOUNTS.length} accounts of ${keys}`);
  assert.ok(report.requests.due > 50, `${report.requests.due} requests`);
  assert.equal(report.calls.results, report.calls.due);
  assert.equal(report.calls.proofs, report.calls.results);
  assert.equal(report.latency?.count, report.requests.answered);
  assert.ok(report.corrected !== null && report.corrected.count >= report.requests.answered);
  assert.equal(report.service, null);
  assert.equal(report.generator.utilization.length, 2);
  const {checked, wrong, skipped} = report.verification;
  assert.deepEqual({wrong, skipped}, {wrong: 0, skipped: null});
  assert.equal(checked, Math.min(200, report.calls.results));
  const bytes = report.perSecond.bytes / report.perSecond.requests;
  assert.ok(bytes > 6_000 && bytes < 8_000, `${bytes} bytes per answer`);
});

test("batches, slots, absent accounts and old blocks are asked for as told, and verified", async () => {
  const args = [
    "--keys",
    keys,
    "--batch",
    "10",
    "--slots",
    "2",
    "--absent",
    "0.5",
    "--blocks",
    "latest..oldest",
  ];
  const {report, code} = await runBench(daemon.url, [...args, "--verify", "50"]);
  assert.equal(code, 0);
  assertAddsUp(report);
  assert.deepEqual(report.settings.blocks, {low: 0, high: FINALIZED});
  assert.equal(report.calls.proofs, 3 * report.calls.results);
  assert.deepEqual(report.verification, {checked: 50, wrong: 0, wrongAnswers: [], skipped: null});
});

test("an open loop sends what is due, no more and no less", async () => {
  const {report, code} = await runBench(daemon.url, ["--keys", keys, "--rate", "150", "--connections", "8"]);
  assert.equal(code, 0);
  assertAddsUp(report);
  assert.equal(report.loop, "open");
  assert.equal(report.requests.due, 150);
  assert.equal(report.corrected, null);
  assert.equal(report.service?.count, 150);
  assert.ok((report.latency?.p50Ms ?? 0) >= (report.service?.p50Ms ?? 0), "the wait is part of the latency");
});

test("a stall of the server is in the latency of all requests that were due meanwhile", async () => {
  let seen = 0;
  let held: (() => void)[] | null = null;
  const server = await ForeignServer.start((response, body) => {
    seen++;
    if (seen === 50) {
      const waiting: (() => void)[] = [];
      held = waiting;
      setTimeout(() => {
        held = null;
        for (const send of waiting) send();
      }, 300);
    }
    if (held === null) sendResults(response, body);
    else held.push(() => sendResults(response, body));
  });
  try {
    const {report} = await runBench(server.url, [
      "--absent",
      "1",
      "--rate",
      "200",
      "--connections",
      "2",
      "--verify",
      "0",
    ]);
    assertAddsUp(report);
    assert.equal(report.requests.answered, 200);
    // 60 of the 200 were due in the 300 ms, evenly: the slowest 20 of them waited for 200 ms or more.
    assert.ok((report.latency?.maxMs ?? 0) >= 290, `max ${report.latency?.maxMs}`);
    assert.ok((report.latency?.p999Ms ?? 0) >= 290, `p99.9 ${report.latency?.p999Ms}`);
    assert.ok((report.latency?.p90Ms ?? 0) >= 180, `p90 ${report.latency?.p90Ms}`);
    // Two were on their way: who looks at those alone sees two of 200.
    assert.ok((report.service?.p90Ms ?? 0) < 180, `service p90 ${report.service?.p90Ms}`);
    assert.ok(report.generator.waitedShare > 0.2, `${report.generator.waitedShare} waited`);
    assert.ok(report.notes.some(note => note.includes("had to wait for a free connection")));
  } finally {
    await server.stop();
  }
});

test("JSON-RPC errors are counted by their codes", async () => {
  for (const [block, code] of [
    [FINALIZED + 1, "-32002"],
    [99, "-32001"],
  ] as const) {
    const run = await runBench(daemon.url, ["--keys", keys, "--batch", "3", "--blocks", String(block)]);
    const {calls, errors, latency, verification} = run.report;
    assertAddsUp(run.report);
    assert.equal(run.code, 1, "no call got a result");
    assert.deepEqual(
      errors.rpc.map(error => [error.code, error.count]),
      [[code, calls.due]],
    );
    assert.equal(latency, null, "errors are no service");
    assert.deepEqual(verification, {checked: 0, wrong: 0, wrongAnswers: [], skipped: "there was no result"});
    assert.ok(run.report.notes.includes("No call got a result."));
  }
});

test("one bad call of a batch is told from its neighbours, and estimates from proofs", async () => {
  const server = await ForeignServer.start((response, body) => {
    const answers = (body as readonly ForeignCall[]).map(({id, method}) => {
      if (method === "eth_estimateGas") return {jsonrpc: "2.0", id, result: "0x5208"};
      if (id === 0) return {jsonrpc: "2.0", id, error: {code: 3, message: "reverted", data: '"result"'}};
      return id === 1 ? {jsonrpc: "2.0", id} : {jsonrpc: "2.0", id, result: {}};
    });
    sendJson(response, answers.reverse());
  });
  try {
    const args = ["--style", "eth", "--keys", keys, "--batch", "4", "--estimates", "0.5", "--verify", "0"];
    const {report, code} = await runBench(server.url, args);
    assertAddsUp(report);
    assert.equal(code, 1, "a call without an answer is a wrong answer");
    const {calls, errors} = report;
    assert.deepEqual(
      errors.rpc.map(error => [error.code, error.message]),
      [["3", "reverted"]],
    );
    assert.equal(errors.malformedReason, "neither result nor error for id 1");
    const share = calls.estimates / calls.due;
    assert.ok(share > 0.4 && share < 0.6, `${share} estimates`);
    assert.equal(calls.proofs, calls.results - calls.estimates);
    assert.equal(calls.lost, 0);
  } finally {
    await server.stop();
  }
});

test("HTTP statuses, socket errors, time-outs and bodies that are no answers are told apart", async () => {
  let seen = 0;
  const server = await ForeignServer.start((response, body) => {
    const kind = seen++ % 10;
    if (kind === 0) response.writeHead(503).end("busy");
    else if (kind === 1) response.destroy();
    else if (kind === 2) response.end("<html>");
    else if (kind === 3)
      return; // never answered
    else if (kind === 4) response.writeHead(204).end();
    else sendResults(response, body);
  });
  try {
    const args = [
      "--absent",
      "1",
      "--rate",
      "100",
      "--timeout",
      "1000",
      "--connections",
      "20",
      "--verify",
      "0",
    ];
    const {report, code} = await runBench(server.url, args);
    assertAddsUp(report);
    assert.equal(code, 1);
    const {errors, requests} = report;
    assert.equal(requests.due, 100);
    assert.deepEqual(errors.http.map(error => [error.code, error.count, error.message]).sort(), [
      ["204", 10, ""],
      ["503", 10, "busy"],
    ]);
    assert.deepEqual(
      errors.socket.map(error => [error.code, error.count]),
      [["UND_ERR_SOCKET", 10]],
    );
    assert.equal(errors.timeouts, 10);
    assert.equal(errors.malformed, 10);
    assert.equal(errors.malformedReason, "not JSON: <html>");
    assert.ok((report.latency?.maxMs ?? 0) >= 1000, "a time-out is as long as it was waited for");
  } finally {
    await server.stop();
  }
});

test("a proof that was tampered with is found, and so is one of another state", async () => {
  const spoil = new Map<string, (text: string) => string>([
    ["value", text => text.replace(/"value":"0x(.*?).",/, '"value":"0x$17",')],
    ["node", text => text.replace(/,"0x([0-9a-f]{127})[0-9a-f]"/, ',"0x$1x"')],
    [
      "root",
      text =>
        text.replace(
          /"proofRelatedNodes":\["0x([0-9a-f]{127})(.)"/,
          (_, most, last) => `"proofRelatedNodes":["0x${most}${last === "0" ? 1 : 0}"`,
        ),
    ],
  ]);
  for (const [what, tamper] of spoil) {
    const {result} = await daemon.call("chain_getStateRoot", ["finalized"]);
    const server = await ForeignServer.start(
      async (response, body) => {
        const {text} = await daemon.post(JSON.stringify(body));
        response.end(tamper(text));
      },
      {chain_getStateRoot: result},
    );
    try {
      const {report, code} = await runBench(server.url, ["--keys", keys, "--verify", "20"]);
      assert.equal(code, 1, what);
      const {checked, wrong, wrongAnswers, skipped} = report.verification;
      assert.deepEqual({checked, wrong, skipped}, {checked: 20, wrong: 20, skipped: null}, what);
      assert.equal(wrongAnswers.length, 5);
      assert.match(wrongAnswers[0]?.reason ?? "", what === "root" ? /leads to the root/ : /accountProof/);
      assert.match(wrongAnswers[0]?.call ?? "", /chain_getProof/);
    } finally {
      await server.stop();
    }
  }
});

test("a server that does not say its state roots is loaded all the same", async () => {
  const server = await ForeignServer.start(sendResults);
  try {
    const {report, code} = await runBench(server.url, ["--absent", "1"]);
    assert.equal(code, 0);
    assert.equal(report.verification.checked, 0);
    assert.match(report.verification.skipped ?? "", /chain_getStateRoot: no such method/);
    assert.deepEqual(report.server, {client: null, chainId: null, oldest: null, newest: null});
  } finally {
    await server.stop();
  }
});

test("the text says what the JSON says, and the page is complete in itself", async () => {
  const html = folder.file("report.html");
  const args = ["--url", daemon.url, "--keys", keys, "--duration", "1", "--warm-up", "0", "--html", html];
  const {stdout, stderr, code} = await runProofd(["bench", ...args]);
  assert.equal(code, 0);
  assert.equal(stderr, `wrote ${html}\n`);
  assert.match(stdout, /^http:\/\/127.*: proofd\/\d/);
  for (const line of [
    /^requests +[\d ]+ +[\d ]+$/m,
    /^service( +[\d. ]+){5}$/m,
    /^errors +none$/m,
    /^verified +200 answers, all right$/m,
  ])
    assert.match(stdout, line);
  const page = await readFile(html, "utf8");
  assert.match(page, /default-src 'none'/);
  assert.doesNotMatch(page, /<(script|link|img|iframe)[^>]*(src|href)=/i, "nothing is loaded");
  assert.doesNotMatch(page, /@import|url\(|fetch\(|XMLHttpRequest|import\(/);
  const report = JSON.parse(/id="report">(.*)<\/script>/.exec(page)?.[1] ?? "") as LoadReport;
  assertAddsUp(report);
  const requests = /^requests +([\d ]+?) {2,}/m.exec(stdout)?.[1] ?? "";
  assert.ok(page.includes(`<dd>${requests}</dd>`), `the page shows ${requests} requests per second`);
  assert.match(page, /uPlot/);
});

test("an interrupt ends the load early, and the report is of what was measured", async () => {
  let bench: Daemon | undefined;
  let seen = 0;
  const server = await ForeignServer.start((response, body) => {
    if (++seen === 200) bench?.child.kill("SIGINT");
    sendResults(response, body);
  });
  try {
    bench = new Daemon([
      "bench",
      "--url",
      server.url,
      "--absent",
      "1",
      "--duration",
      "600",
      "--warm-up",
      "0",
      "--json",
    ]);
    const {code, stdout, stderr} = await bench.finished;
    assert.equal(code, 0);
    assert.equal(stderr, "SIGINT: waiting for the requests under way\n");
    const report = JSON.parse(stdout) as LoadReport;
    assert.ok(report.stopped && report.seconds < 60, `${report.seconds} s`);
    assert.ok(report.requests.due >= 200, `${report.requests.due} requests`);
    assertAddsUp(report);
    assert.ok(report.notes.some(note => note.startsWith("Ended early")));
  } finally {
    await server.stop();
  }
});

test("what cannot be done is named: exit code 2 for flags, 1 for a server that is not there", async () => {
  const url = ["--url", daemon.url];
  const empty = folder.file("empty.txt");
  await writeFile(empty, "# nobody\n");
  const table: [readonly string[], number, RegExp][] = [
    [[], 2, /required option '--url <url>' not specified/],
    [
      ["--url", "ftp://a"],
      2,
      /'--url <url>' argument 'ftp:\/\/a' is invalid. Expected http:\/\/ or https:\/\//,
    ],
    [["--url", "http://me:secret@a"], 2, /without user, password and #/],
    [[...url, "--style", "solana"], 2, /Allowed choices are chain, eth/],
    [[...url, "--connections", "10001"], 2, /Expected a whole number from 1 to 10000/],
    [[...url, "--connections", "2", "--threads", "3"], 2, /--threads 3 is more than --connections 2/],
    [[...url, "--batch", "0"], 2, /'--batch <calls>' argument '0' is invalid/],
    [[...url, "--batch", "1000", "--slots", "1001"], 2, /more than 1000000 slots per request/],
    [[...url, "--rate", "0"], 2, /'--rate <requests\/s>' argument '0' is invalid/],
    [[...url, "--duration", "0"], 2, /'--duration <seconds>'/],
    [[...url, "--warm-up", "-1"], 2, /'--warm-up <seconds>'/],
    [[...url, "--absent", "1.1"], 2, /Expected a number from 0 to 1/],
    [[...url, "--estimates", "x"], 2, /Expected a number from 0 to 1/],
    [[...url, "--slots", "65536"], 2, /'--slots <count>'/],
    [[...url, "--blocks", "newest"], 2, /Expected latest, oldest, a block number, or two of them as A..B/],
    [[...url, "--accounts", "0"], 2, /'--accounts <count>'/],
    [[...url, "--accounts", "1", "--keys", keys], 2, /--keys and --accounts exclude each other/],
    [[...url, "--keys", folder.file("missing")], 2, /--keys .*missing: ENOENT/],
    [[...url, "--keys", empty], 2, /--keys .*empty.txt: it names no account/],
    [[...url, "--seed", "-1"], 2, /'--seed <number>'/],
    [[...url, "--timeout", "0"], 2, /'--timeout <ms>'/],
    [[...url, "--verify", "all"], 2, /'--verify <calls>'/],
    [[...url, "--html", folder.file("no/folder.html")], 2, /--html .*cannot be written: ENOENT/],
    [url, 2, /serves chain 1337, whose accounts are not known here: name them with --keys FILE/],
    [["--url", "http://127.0.0.1:1"], 1, /cannot reach http:\/\/127.0.0.1:1: connect ECONNREFUSED/],
    [["--url", `${daemon.url}/healthz`], 1, /answered web3_clientVersion with HTTP 40\d/],
  ];
  for (const [args, code, message] of table) {
    const finished = await runProofd(["bench", ...args]);
    assert.match(finished.stderr, message, args.join(" "));
    assert.equal(finished.code, code, args.join(" "));
    assert.equal(finished.stdout, "");
  }
  const server = await ForeignServer.start(sendResults);
  try {
    const {code, stderr} = await runProofd([
      "bench",
      "--url",
      server.url,
      "--absent",
      "1",
      "--blocks",
      "oldest",
    ]);
    assert.equal(code, 2);
    assert.match(stderr, /--blocks: the server does not say which block is its oldest/);
  } finally {
    await server.stop();
  }
});

test("flags come from PROOFD_BENCH_ variables too", async () => {
  const env = {
    PROOFD_BENCH_URL: daemon.url,
    PROOFD_BENCH_KEYS: keys,
    PROOFD_BENCH_DURATION: "1",
    PROOFD_BENCH_WARM_UP: "0",
    PROOFD_BENCH_JSON: "1",
    PROOFD_BENCH_BLOCKS: "2",
    PROOFD_BENCH_BATCH: "4",
  };
  const {stdout, code, stderr} = await runProofd(["bench", "--batch", "2"], {env});
  assert.equal(code, 0, stderr);
  const {settings} = JSON.parse(stdout) as LoadReport;
  assert.equal(settings.batch, 2);
  assert.deepEqual(settings.blocks, {low: 2, high: 2});
});
