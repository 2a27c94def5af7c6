/** `proofd load` against the real service: its reports add up, and its verification finds what is wrong. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import type {LoadReport} from "../../../load/report/loadReport.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, type WorkFolder} from "../../support/chains/serviceChain.ts";
import {ForeignServer} from "../../support/http/foreignServer.ts";
import {assertAddsUp, FINALIZED, runLoad, startLoadTarget} from "../../support/http/loadRun.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {runProofd} from "../../support/processes/daemon.ts";

let folder: WorkFolder;
let service: OwnService;
let keys: string;

before(async () => {
  ({folder, service, keys} = await startLoadTarget());
});

after(async () => {
  await service.stop();
  await folder.remove();
});

test("a closed loop's report adds up, and its sampled answers are right", async () => {
  const args = ["--connections", "3", "--threads", "2", "--verify", "3"];
  const report = await runLoad(service.url, ["--keys", keys, ...args]);
  assertAddsUp(report);
  assert.equal(report.loop, "closed");
  assert.equal(report.settings.keys, `${ACCOUNTS.length} accounts of ${keys}`);
  assert.ok(report.requests.due >= 3, `${report.requests.due} requests on 3 connections`);
  assert.equal(report.calls.results, report.calls.due);
  assert.equal(report.calls.proofs, report.calls.results);
  assert.equal(report.latency?.count, report.requests.answered);
  assert.ok(report.corrected && report.corrected.count >= report.requests.answered);
  assert.equal(report.service, null);
  assert.equal(report.generator.utilization.length, 2);
  assert.deepEqual(report.failures, []);
  const {checked, wrong, accounts, skipped} = report.verification;
  assert.deepEqual({wrong, skipped}, {wrong: 0, skipped: null});
  assert.equal(checked, 3);
  assert.deepEqual(accounts, {present: checked, absent: 0});
  const bytes = report.perSecond.bytes / report.perSecond.requests;
  assert.ok(bytes > 6_000 && bytes < 8_000, `${bytes} bytes per answer`);
});

test("batches, slots, absent accounts and old blocks are asked for as told, and verified", async () => {
  const args = ["--batch", "10", "--slots", "2", "--absent", "0.5", "--blocks", "latest..oldest"];
  const report = await runLoad(service.url, ["--keys", keys, ...args, "--verify", "50"]);
  assert.deepEqual(report.failures, []);
  assertAddsUp(report);
  assert.deepEqual(report.settings.blocks, {low: 0, high: FINALIZED});
  assert.equal(report.calls.proofs, 3 * report.calls.results);
  const {checked, wrong, accounts, slots} = report.verification;
  assert.deepEqual([checked, wrong], [50, 0]);
  assert.equal(accounts.present + accounts.absent, 50);
  assert.equal(slots.present + slots.absent, 100);
  assert.ok(accounts.present > 0 && accounts.absent > 0 && slots.absent >= 2 * accounts.absent);
});

test("an open loop sends what is due, no more and no less", async () => {
  const report = await runLoad(service.url, ["--keys", keys, "--rate", "600", "--connections", "8"]);
  assert.deepEqual(report.failures, []);
  assertAddsUp(report);
  assert.equal(report.loop, "open");
  assert.equal(report.requests.due, 150);
  assert.equal(report.corrected, null);
  assert.equal(report.service?.count, 150);
  assert.ok((report.latency?.p50Ms ?? 0) >= (report.service?.p50Ms ?? 0), "the wait is part of the latency");
});

test("JSON-RPC errors are counted by their codes", async () => {
  for (const [block, code] of [
    [FINALIZED + 1, "-32002"],
    [99, "-32001"],
  ] as const) {
    const args = ["--keys", keys, "--batch", "3", "--blocks", String(block), "--rate", "80"];
    const report = await runLoad(service.url, args);
    const {calls, errors, latency, verification} = report;
    assertAddsUp(report);
    assert.deepEqual(
      errors.rpc.map(error => [error.code, error.count]),
      [[code, calls.due]],
    );
    assert.equal(latency, null, "errors are no service");
    assert.deepEqual([verification.checked, verification.skipped], [0, "there was no result"]);
    assert.deepEqual(report.failures, ["No call got a result."]);
  }
});

test("calls with an error are a failure, though their requests are answered", async () => {
  // Half of the blocks asked for are not finalized.
  const args = ["--keys", keys, "--blocks", "3..4", "--rate", "200", "--batch", "2"];
  const report = await runLoad(service.url, args);
  assert.equal(report.requests.failed, 0);
  assert.deepEqual(report.failures, [`${report.calls.errors} of 100 calls failed; --max-errors allows 0.`]);
});

test("accounts that are all absent are counted, and a failure unless absent ones were asked for", async () => {
  const strangers = folder.file("strangers.txt");
  await writeFile(strangers, `${ABSENT_ACCOUNT} 0x1\n`);
  const args = ["--slots", "1", "--rate", "200", "--verify", "40"];
  const report = await runLoad(service.url, ["--keys", strangers, ...args]);
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
  const asked = await runLoad(service.url, [...args, "--absent", "1"]);
  assert.deepEqual(asked.failures, []);
  assert.deepEqual(asked.verification.accounts, {present: 0, absent: 40});
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
    const {result} = await service.call("chain_getStateRoot", ["finalized"]);
    const server = await ForeignServer.start(
      async (response, body) => {
        const {text} = await service.post(JSON.stringify(body));
        response.end(tamper(text));
      },
      {chain_getStateRoot: result},
    );
    try {
      const report = await runLoad(server.url, ["--keys", keys, "--rate", "80"]);
      assert.deepEqual(report.failures, ["20 of 20 verified answers are wrong."], what);
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

test("the text says what the JSON says, and the page is complete in itself", async () => {
  const html = folder.file("report.html");
  const short = ["--duration", "1", "--warm-up", "0", "--connections", "1"];
  const args = ["--url", service.url, "--keys", keys, ...short, "--html", html];
  const {stdout, stderr, code} = await runProofd(["load", ...args]);
  assert.equal(code, 0);
  assert.equal(stderr, `wrote ${html}\n`);
  assert.match(stdout, /^http:\/\/127.*: proofd\/\d/);
  for (const line of [
    /^requests +[\d ]+ +[\d ]+$/m,
    /^service( +[\d. ]+){5}$/m,
    /^errors +none$/m,
    /^verified +([1-9]\d*) answers?, all right: \1 accounts? present, 0 absent$/m,
    /^machine +.*, \d+ cores?, Node \d.*; proofd \d.*, commit \S+/m,
    /^passed$/m,
  ])
    assert.match(stdout, line);
  const command = `proofd load ${args.join(" ")}`;
  assert.ok(stdout.includes(`\ncommand       ${command}\n`), stdout);
  const page = await readFile(html, "utf8");
  assert.match(page, /<p class="verdict good">passed<\/p>/);
  for (const title of ["percentile, %", "latency, ms", "time since the measuring began, s"])
    assert.ok(page.includes(title), title);
  assert.match(page, /default-src 'none'/);
  assert.doesNotMatch(page, /<(script|link|img|iframe)[^>]*(src|href)=/i, "nothing is loaded");
  assert.doesNotMatch(page, /@import|url\(|fetch\(|XMLHttpRequest|import\(/);
  const report = JSON.parse(/id="report">(.*)<\/script>/.exec(page)?.[1] ?? "") as LoadReport;
  assertAddsUp(report);
  assert.ok(page.includes(`<pre>${stdout}</pre>`), "the page has the whole text report");
  assert.match(page, /uPlot/);
});
