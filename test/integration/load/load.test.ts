/** `proofd load` against the real service: its reports add up, its verification finds what is wrong, and its flags are checked. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {pathToFileURL} from "node:url";
import {GENERATOR_WAS_LIMIT} from "../../../load/report/judgement.ts";
import type {LoadReport} from "../../../load/report/loadReport.ts";
import {ACCOUNTS, type WorkFolder} from "../../support/chains/serviceChain.ts";
import {type ForeignCall, ForeignServer, sendJson, sendResults} from "../../support/http/foreignServer.ts";
import {assertAddsUp, FINALIZED, runLoad, startLoadTarget} from "../../support/http/loadRun.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {Chromium, findChromium} from "../../support/processes/chromium.ts";
import {runProofd} from "../../support/processes/daemon.ts";
import {runAllHere, runHere} from "../../support/processes/ownCommand.ts";

let folder: WorkFolder;
let service: OwnService;
let keys: string;

before(async () => {
  ({folder, service, keys} = await startLoadTarget());
});

after(() => service.stop());

test("a closed loop's report adds up, and its sampled answers are right", async () => {
  const args = ["--connections", "3", "--threads", "2", "--verify", "3"];
  const run = (seconds: number) => runLoad(service.url, ["--keys", keys, ...args], seconds);
  let report = await run(1);
  // On a busy machine no answer may come in time.
  for (let seconds = 2; report.perSecond.requests === 0 && seconds < 100; seconds *= 2)
    report = await run(seconds);
  assertAddsUp(report);
  assert.equal(report.loop, "closed");
  assert.equal(report.settings.keys, `${ACCOUNTS.length} accounts of ${keys}`);
  assert.ok(report.requests.due >= 3, `${report.requests.due} requests on 3 connections`);
  assert.equal(report.calls.results, report.calls.due);
  assert.equal(report.calls.proofs, report.calls.results);
  assert.equal(report.latency?.count, report.requests.answered);
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
  const calls = ["--batch", "10", "--slots", "2", "--absent", "0.5", "--blocks", "latest..oldest"];
  const args = ["--keys", keys, ...calls, "--rate", "80", "--verify", "50"];
  const report = await runLoad(service.url, args);
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
  const report = await runLoad(service.url, [
    "--keys",
    keys,
    "--rate",
    "600",
    "--connections",
    "8",
    "--threads",
    "2",
  ]);
  assert.deepEqual(report.failures, []);
  assertAddsUp(report);
  assert.equal(report.loop, "open");
  assert.equal(report.requests.due, 150);
  assert.equal(report.service?.count, 150);
  assert.ok((report.latency?.p50Ms ?? 0) >= (report.service?.p50Ms ?? 0), "the wait is part of the latency");
});

test("calls with an error are a failure, though their requests are answered, and are counted by their codes", async () => {
  // Blocks 4 and 5 are not finalized, and 6 to 8 are not held.
  const args = ["--keys", keys, "--rate", "400", "--batch", "3"];
  const report = await runLoad(service.url, [...args, "--blocks", "1..8"]);
  const {calls, errors, failures} = report;
  assertAddsUp(report);
  assert.equal(report.requests.failed, 0);
  assert.deepEqual(errors.rpc.map(({code}) => code).sort(), ["-32001", "-32002"]);
  assert.deepEqual(failures, [`${calls.errors} of 300 calls failed; --max-errors allows 0.`]);
  const none = await runLoad(service.url, [...args, "--blocks", "99"]);
  assert.equal(none.calls.errors, 300);
  assert.equal(none.latency, null, "errors are no service");
  assert.deepEqual([none.verification.checked, none.verification.skipped], [0, "there was no result"]);
  assert.deepEqual(none.failures, ["No call got a result."]);
});

test("a proof that was tampered with is found, and so is one of another state", async t => {
  const spoil: readonly ((text: string) => string)[] = [
    text => text.replace(/"value":"0x(.*?).",/, '"value":"0x$17",'),
    text => text.replace(/,"0x([0-9a-f]{127})[0-9a-f]"/, ',"0x$1x"'),
    text =>
      text.replace(
        /"proofRelatedNodes":\["0x([0-9a-f]{127})(.)"/,
        (_, most, last) => `"proofRelatedNodes":["0x${most}${last === "0" ? 1 : 0}"`,
      ),
  ];
  const {result} = await service.call("chain_getStateRoot", ["finalized"]);
  let seen = 0;
  const server = await ForeignServer.start(
    async (response, body) => {
      const tamper = spoil[seen++ % spoil.length];
      const {text} = await service.post(JSON.stringify(body));
      response.end(tamper?.(text));
    },
    {chain_getStateRoot: result},
  );
  t.after(() => server.stop());
  const report = await runLoad(server.url.origin, ["--keys", keys, "--rate", "80"]);
  assert.deepEqual(report.failures, ["20 of 20 verified answers are wrong."]);
  const {checked, wrong, wrongAnswers, skipped} = report.verification;
  assert.deepEqual({checked, wrong, skipped}, {checked: 20, wrong: 20, skipped: null});
  assert.equal(wrongAnswers.length, 5);
  for (const reason of [/leads to the root/, /accountProof/])
    assert.ok(wrongAnswers.some(one => reason.test(one.reason)));
  assert.match(wrongAnswers[0]?.call ?? "", /chain_getProof/);
});

/** In a browser, if this machine has one: the earlier run's latency is drawn too, and warnings have a colour of their own. */
async function lookAtCharts(html: string): Promise<void> {
  const program = findChromium();
  if (program === undefined) return;
  const chromium = await Chromium.start(program, folder.file("profile"));
  try {
    await chromium.open(pathToFileURL(html).href);
    await chromium.until("document.querySelector('#percentiles .u-legend')");
    const labels = await chromium.evaluate<string>(
      "document.querySelector('#percentiles .u-legend').innerText",
    );
    assert.match(labels, /from due, ms.*from due, earlier, ms/s);
    const colours = await chromium.evaluate<string[]>(
      "['.warning li', '.bad li', 'p'].map(one => getComputedStyle(document.querySelector(one)).color)",
    );
    assert.equal(new Set(colours).size, 3, colours.join("; "));
    assert.deepEqual(chromium.complaints, []);
  } finally {
    await chromium.stop();
  }
}

test("the text says what the JSON says, and the page is complete in itself", async () => {
  const [html, failedHtml] = [folder.file("report.html"), folder.file("failed.html")];
  const short = ["--duration", "1", "--warm-up", "0", "--rate", "40"];
  const args = ["--url", service.url, "--keys", keys, ...short, "--html"];
  const {code, stdout, stderr} = await runHere(["load", ...args, html]);
  // On a busy machine, the generator may be the limit.
  const isLimited = stdout.endsWith(`\nFAILED: ${GENERATOR_WAS_LIMIT}\n`);
  assert.equal(code, isLimited ? 3 : 0, stdout);
  assert.equal(stderr, `wrote ${html}\n`);
  const page = await readFile(html, "utf8");
  const json = /id="report">(.*)<\/script>/.exec(page)?.[1] ?? "";
  const earlier = folder.file("earlier.json");
  await writeFile(earlier, json);
  const more = ["--max-p99", "0.001", "--batch", "2", "--against", earlier];
  const failed = await runHere(["load", ...args, failedHtml, ...more]);
  const failure = /^FAILED: (p99 .*)$/m.exec(failed.stdout)?.[1] ?? assert.fail(failed.stdout);
  assert.equal(failed.code, 1);
  const failedPage = await readFile(failedHtml, "utf8");
  assert.match(failedPage, /<p class="verdict bad">failed<\/p>/);
  assert.ok(failedPage.includes(`<li>${failure}</li>`), failedPage);
  const report = JSON.parse(json) as LoadReport;
  const {requests} = report.perSecond;
  const compared = new RegExp(
    `^against +earlier +now +ratio\nrequests/s +${requests} +([\\d.]+) +([\\d.]+)$`,
    "m",
  );
  const [, now, ratio] = compared.exec(failed.stdout) ?? assert.fail(failed.stdout);
  assert.ok(Math.abs(Number(now) / requests - Number(ratio)) < 0.01, failed.stdout);
  const warning = "The earlier run was another load. These of its settings differ: batch.";
  assert.ok(failed.stdout.includes(`\nWARNING: ${warning}\n`), failed.stdout);
  assert.ok(failedPage.indexOf(`<li>${warning}</li>`) < failedPage.indexOf("<table>"), "on top");
  await lookAtCharts(failedHtml);
  assert.match(failedPage, /<th scope="row">CPU, us<\/th>/);
  assert.match(stdout, /^http:\/\/127.*: proofd\/\d/);
  for (const line of [
    /^requests +[\d ]+ +[\d ]+$/m,
    /^service( +[\d. ]+){5}$/m,
    /^errors +none$/m,
    /^verified +([1-9]\d*) answers?, all right: \1 accounts? present, 0 absent$/m,
    /^server +[\d.]+ cores, [\d. ]+ us a proof; memory \d+ MB$/m,
    /^machine +.*, \d+ cores?, Node \d.*; proofd \d.*, commit \S+/m,
    isLimited ? /^FAILED: The generator/m : /^passed$/m,
  ])
    assert.match(stdout, line);
  assert.match(
    page,
    isLimited ? /<p class="verdict warning">inconclusive<\/p>/ : /<p class="verdict good">passed<\/p>/,
  );
  for (const title of ["percentile, %", "latency, ms", "time since the measuring began, s"])
    assert.ok(page.includes(title), title);
  assert.match(page, /default-src 'none'/);
  assert.doesNotMatch(page, /<(script|link|img|iframe)[^>]*(src|href)=/i, "nothing is loaded");
  assert.doesNotMatch(page, /@import|url\(|fetch\(|XMLHttpRequest|import\(/);
  assertAddsUp(report);
  const words = (text: string) => text.match(/[\w.%/:,-]+/g)?.join(" ") ?? "";
  const shown = words(page.replace(/<head>.*<\/head>|<[^>]*>/gs, " ").replaceAll("&quot;", '"'));
  for (const line of stdout.split("\n").filter(line => !/^(passed|FAILED: .*)$/.test(line)))
    assert.ok(shown.includes(words(line.replace(/^(note|WARNING): /, ""))), `the page has: ${line}`);
  assert.match(page, /uPlot/);
});

test("what cannot be done is named: exit code 2 for flags, 1 for a server that is not there", async () => {
  const url = ["--url", service.url];
  const empty = folder.file("empty.txt");
  await writeFile(empty, "# nobody\n");
  const table: [readonly string[], number, RegExp][] = [
    [[], 2, /required option '--url <url>' not specified/],
    [["--url", "ftp://secret"], 2, /^error: --url: expected a URL with http:\/\/ or https:\/\/ and a host/],
    [["--url", "http://me:secret@a"], 2, /^error: --url: expected a URL without user, password and #/],
    [[...url, "--style", "solana"], 2, /Allowed choices are chain, eth/],
    [[...url, "--connections", "10001"], 2, /Expected a whole number from 1 to 10000/],
    [
      [...url, "--connections", "2", "--threads", "3"],
      2,
      /--threads: expected at most --connections \(2\), got 3/,
    ],
    [
      [...url, "--batch", "1000", "--slots", "1001"],
      2,
      /expected at most 1000000 slots per request, got 1001000/,
    ],
    [[...url, "--warm-up", "-1"], 2, /'--warm-up <seconds>'/],
    [[...url, "--absent", "1.1"], 2, /Expected a number from 0 to 1/],
    [[...url, "--blocks", "newest"], 2, /Expected latest, oldest, a block number, or two of them as A..B/],
    [[...url, "--accounts", "1M", "--keys", keys], 2, /--accounts has no effect with --keys/],
    [[...url, "--accounts", "1m"], 2, /Expected a whole number from 1 to 100000000, such as 100, 1k or 1M/],
    [[...url, "--keys", folder.file("missing")], 2, /--keys .*missing: ENOENT/],
    [[...url, "--against", empty], 2, /--against .*empty.txt: expected a report of `proofd load --json`/],
    [[...url, "--keys", empty], 2, /--keys .*empty.txt: it has no account/],
    [[...url, "--verify", "all"], 2, /'--verify <calls>'/],
    [[...url, "--max-errors", "-1"], 2, /Expected a whole number of calls, or 0% to 100%, such as 0\.1%/],
    [[...url, "--max-errors", "101%"], 2, /'--max-errors <limit>' argument '101%' is invalid/],
    [[...url, "--max-errors", "0.5"], 2, /'--max-errors <limit>' argument '0\.5' is invalid/],
    [[...url, "--max-p99", "0"], 2, /Expected milliseconds above 0 and up to 600000, such as 12\.5/],
    [[...url, "--html", folder.file("")], 2, /--html .*: cannot be written: expected a file, got a folder/],
    [[...url, "--html", folder.file("no/folder.html")], 2, /--html .*cannot be written: ENOENT/],
    [[...url, "--html", `${keys}/report.html`], 2, /--html .*cannot be written: ENOTDIR/],
    [url, 2, /serves chain 1337, whose accounts are not known here: name them with --keys FILE/],
    [["--url", "http://127.0.0.1:1"], 1, /cannot reach http:\/\/127.0.0.1:1: connect ECONNREFUSED/],
    [["--url", `${service.url}/healthz`], 1, /answered web3_clientVersion with HTTP 40\d/],
  ];
  const server = await ForeignServer.start(sendResults);
  table.push([
    ["--url", server.url.origin, "--absent", "1", "--blocks", "oldest"],
    2,
    /--blocks: the server does not say which block is its oldest \(chain_getCoverage\); name numbers/,
  ]);
  table.push([
    ["--url", server.url.origin, "--absent", "1", "--blocks", "1..latest"],
    2,
    /--blocks: the server does not say which block is its latest \(chain_getCoverage or eth_blockNumber\)/,
  ]);
  const node = await ForeignServer.start(sendResults, {eth_chainId: "0x1"});
  table.push([
    ["--url", node.url.origin, "--keys", keys],
    2,
    /answers eth_chainId, but .*: did you mean --style eth\?/,
  ]);
  const ends = await runAllHere(table.map(([args]) => ["load", ...args]));
  for (const one of [server, node]) await one.stop();
  for (const [i, [args, code, message]] of table.entries()) {
    assert.match(ends[i]?.stderr ?? "", message, args.join(" "));
    assert.doesNotMatch(ends[i]?.stderr ?? "", /secret/);
    assert.deepEqual([ends[i]?.code, ends[i]?.stdout], [code, ""], args.join(" "));
  }
});

test("flags come from PROOFD_LOAD_ variables too, and a load that has not passed ends with exit code 1", async () => {
  const env = {
    PROOFD_LOAD_URL: service.url,
    PROOFD_LOAD_KEYS: keys,
    PROOFD_LOAD_DURATION: "1",
    PROOFD_LOAD_WARM_UP: "0",
    PROOFD_LOAD_JSON: "1",
    PROOFD_LOAD_BLOCKS: "2",
    PROOFD_LOAD_BATCH: "4",
    PROOFD_LOAD_RATE: "20",
    PROOFD_LOAD_MAX_P99: "0.001",
  };
  const {stdout, code, stderr} = await runProofd(["load", "--batch", "2"], {env});
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^FAILED: p99 \(from due\) is [\d.]+ ms; --max-p99 allows 0\.001 ms\.$/m);
  const {settings, command} = JSON.parse(stdout) as LoadReport;
  const variables = Object.entries(env).filter(([name]) => name !== "PROOFD_LOAD_BATCH");
  const named = variables.map(([name, value]) => `${name}=${value}`).sort();
  assert.deepEqual(command.split(" ").slice(0, named.length).sort(), named, "the report names them");
  assert.ok(command.endsWith(" proofd load --batch 2"), command);
  assert.equal(settings.batch, 2);
  assert.deepEqual(settings.blocks, {low: 2, high: 2});
});

test("no key of the URL or of a header is in a report or an error, whatever the server repeats", async t => {
  const echo = `denied: ${"x".repeat(90)}/v1/secret-path?key=secret-key Bearer secret-token`;
  const server = await ForeignServer.start(
    (response, body) => {
      const {id} = [body].flat()[0] as ForeignCall;
      response.statusCode = id % 3 === 0 ? 403 : 200;
      sendJson(response, {jsonrpc: "2.0", id, error: {code: -32000, message: echo}});
    },
    {web3_clientVersion: echo, chain_getCoverage: echo},
  );
  const args = ["--keys", keys, "--header", "authorization: Bearer secret-token", "--max-errors", "100%"];
  t.after(() => server.stop());
  const report = await runLoad(`${server.url.origin}/v1/secret-path?key=secret-key`, args);
  assert.equal(report.url, `${server.url.origin}/***`);
  assert.match(report.server.client ?? "", /\/v1\/\*\*\*\?key=\*\*\* \*\*\*$/);
  assert.ok(report.errors.http.length + report.errors.rpc.length > 0);
  assert.doesNotMatch(JSON.stringify(report), /secr/);
});
