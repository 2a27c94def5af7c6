/** When `proofd load` has passed and when not: exit code 1 for what a load test is run to find. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {ABSENT_ACCOUNT, type WorkFolder} from "../../../support/chains/serviceChain.ts";
import {type ForeignCall, ForeignServer, sendResults} from "../../../support/http/foreignServer.ts";
import {assertAddsUp, runLoad, startLoads, startLoadTarget} from "../../../support/http/loadRun.ts";
import {Anvil} from "../../../support/processes/anvil.ts";
import {type Daemon, runProofd} from "../../../support/processes/daemon.ts";
import {notRun} from "../../../support/processes/notRun.ts";

const UNVERIFIED = ["--absent", "1", "--verify", "0"];

let folder: WorkFolder;
let daemon: Daemon;
let keys: string;

before(async () => {
  startLoads();
  ({folder, daemon, keys} = await startLoadTarget());
});

after(async () => {
  await daemon.stop();
  await folder.remove();
});

test("failed requests are a failure, beyond --max-errors only", async () => {
  let seen = 0;
  const server = await ForeignServer.start((response, body) => {
    if (seen++ % 10 === 0) response.writeHead(503).end("busy");
    else sendResults(response, body);
  });
  try {
    for (const [limit, code] of [
      [[], 1],
      [["--max-errors", "9"], 1],
      [["--max-errors", "10"], 0],
      [["--max-errors", "9.9%"], 1],
      [["--max-errors", "10%"], 0],
    ] as const) {
      const run = await runLoad(server.url, ["--rate", "100", ...UNVERIFIED, ...limit]);
      assertAddsUp(run.report);
      assert.equal(run.report.requests.failed, 10);
      assert.equal(run.code, code, limit.join(" "));
      const failures = code === 0 ? [] : [`10 of 100 calls failed; --max-errors allows ${limit[1] ?? 0}.`];
      assert.deepEqual(run.report.failures, failures);
      assert.equal(run.stderr, failures.map(failure => `FAILED: ${failure}\n`).join(""));
    }
  } finally {
    await server.stop();
  }
});

test("calls with an error are a failure too, though their requests are answered", async () => {
  // Half of the blocks asked for are not finalized.
  const args = ["--keys", keys, "--blocks", "3..4", "--rate", "50", "--batch", "2"];
  const {report, code} = await runLoad(daemon.url, args);
  assert.equal(report.requests.failed, 0);
  assert.equal(code, 1);
  assert.deepEqual(report.failures, [`${report.calls.errors} of 100 calls failed; --max-errors allows 0.`]);
  const most = await runLoad(daemon.url, [...args, "--max-errors", "100"]);
  assert.deepEqual([most.code, most.report.failures], [0, []]);
});

test("a p99 above --max-p99 is a failure: from due in an open loop, service time in a closed one", async () => {
  const server = await ForeignServer.start((response, body) => {
    setTimeout(() => sendResults(response, body), 20);
  });
  try {
    for (const [pace, kind] of [
      [["--rate", "50"], "from due"],
      [["--connections", "1"], "service"],
    ] as const) {
      const slow = await runLoad(server.url, [...pace, ...UNVERIFIED, "--max-p99", "15.5"]);
      assert.equal(slow.code, 1);
      const p99Ms = slow.report.latency?.p99Ms ?? 0;
      assert.deepEqual(slow.report.failures, [`p99 (${kind}) is ${p99Ms} ms; --max-p99 allows 15.5 ms.`]);
      const fast = await runLoad(server.url, [...pace, ...UNVERIFIED, "--max-p99", "600000"]);
      assert.deepEqual([fast.code, fast.report.failures], [0, []]);
    }
  } finally {
    await server.stop();
  }
});

test("accounts that are all absent are counted, and a failure unless absent ones were asked for", async () => {
  const strangers = folder.file("strangers.txt");
  await writeFile(strangers, `${ABSENT_ACCOUNT} 0x1\n`);
  const args = ["--slots", "1", "--rate", "50", "--verify", "40"];
  const {report, code} = await runLoad(daemon.url, ["--keys", strangers, ...args]);
  assert.equal(code, 1);
  const {checked, wrong, accounts, slots} = report.verification;
  assert.deepEqual([checked, wrong], [40, 0], "the answers are right");
  assert.deepEqual(
    [accounts, slots],
    [
      {present: 0, absent: 40},
      {present: 0, absent: 40},
    ],
  );
  assert.match(report.failures.join(), /^None of 40 verified accounts exists, although only 0 % absent ones/);

  const half = await runLoad(daemon.url, ["--keys", strangers, ...args, "--absent", "0.5"]);
  assert.equal(half.code, 1, "that half of them were to be absent does not explain 40 of 40");
  const asked = await runLoad(daemon.url, [...args, "--absent", "1"]);
  assert.deepEqual([asked.code, asked.report.failures], [0, []]);
  assert.deepEqual(asked.report.verification.accounts, {present: 0, absent: 40});
});

test("the text names each failure at its end, and so does the page", async () => {
  const args = [
    "load",
    "--url",
    daemon.url,
    "--keys",
    keys,
    "--duration",
    "1",
    "--warm-up",
    "0",
    "--connections",
    "1",
  ];
  const html = folder.file("report.html");
  const {stdout, stderr, code} = await runProofd([...args, "--max-p99", "0.001", "--html", html]);
  assert.deepEqual([code, stderr], [1, `wrote ${html}\n`]);
  const failure = /\nFAILED: (p99 \(service\) is [\d.]+ ms; --max-p99 allows 0\.001 ms\.)\n$/.exec(
    stdout,
  )?.[1];
  const page = await readFile(html, "utf8");
  assert.match(page, /<p class="verdict bad">failed<\/p>/);
  assert.ok(failure !== undefined && page.includes(`<li>${failure}</li>`), stdout);
});

test("a fresh node's block 0, whose header names the empty state, is not reported as wrong", async t => {
  const anvil = await Anvil.start([]);
  if (typeof anvil === "string") {
    notRun(t, anvil);
    return;
  }
  try {
    assert.equal(await anvil.request("eth_blockNumber"), "0x0");
    const style = ["--style", "eth", "--absent", "0.5", "--rate", "40", "--slots", "1"];
    const fresh = await runLoad(anvil.url, style);
    assert.deepEqual([fresh.code, fresh.report.failures], [0, []]);
    const {checked, wrong, accounts, note} = fresh.report.verification;
    assert.deepEqual([checked, wrong], [40, 0]);
    assert.ok(accounts.present > 0 && accounts.absent > 0, JSON.stringify(accounts));
    assert.match(note ?? "", /^The header of block 0 names the empty state/);
    assert.ok(fresh.report.notes.includes(note ?? ""));

    await anvil.request("evm_mine");
    const mined = await runLoad(anvil.url, [...style, "--blocks", "1"]);
    assert.deepEqual([mined.code, mined.report.verification.wrong], [0, 0]);
    assert.equal(mined.report.verification.note, null, "block 1 has the root that its header names");
  } finally {
    await anvil.stop();
  }
});

test("an answer of block 0 that leads to another state than the others is still found", async t => {
  const anvil = await Anvil.start([]);
  if (typeof anvil === "string") {
    notRun(t, anvil);
    return;
  }
  // One account's balance is changed between the proofs of a load and the proof that the root is taken from.
  const [first] = await anvil.request<string[]>("eth_accounts");
  const stale = await anvil.request("eth_getProof", first, [], "0x0");
  await anvil.request("anvil_setBalance", first, "0x1");
  const server = await ForeignServer.start(
    async (response, body) => {
      const call = [body].flat()[0] as ForeignCall;
      const isProbe = Number(call.params[0]) === 0;
      const result = isProbe ? await anvil.request("eth_getProof", ...call.params) : stale;
      response.end(JSON.stringify({jsonrpc: "2.0", id: call.id, result}));
    },
    {
      eth_blockNumber: "0x0",
      eth_accounts: [first],
      eth_getBlockByNumber: await anvil.request("eth_getBlockByNumber", "0x0", false),
    },
  );
  try {
    const {report, code} = await runLoad(server.url, ["--style", "eth", "--rate", "20"]);
    assert.equal(code, 1);
    assert.equal(report.verification.wrong, 20);
    assert.deepEqual(report.failures, ["20 of 20 verified answers are wrong."]);
  } finally {
    await server.stop();
    await anvil.stop();
  }
});
