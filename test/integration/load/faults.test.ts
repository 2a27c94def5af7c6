/** `proofd load` against servers that stall, fail or answer nonsense, and an interrupted load. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {isInconclusive} from "../../../load/report/judgement.ts";
import type {LoadReport} from "../../../load/report/loadReport.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {ForeignServer, sendResults} from "../../support/http/foreignServer.ts";
import {assertAddsUp, failuresOf, runLoad, writeKeys} from "../../support/http/loadRun.ts";
import {Daemon} from "../../support/processes/daemon.ts";

/** Of a request that is never answered; the others must be, beside whatever else the machine does. */
const TIMEOUT_MS = 5000;

const folder = new WorkFolder();
let keys: string;

before(async () => {
  keys = await writeKeys(folder);
});

test("a stall of the server is in the latency of all requests that were due meanwhile", async t => {
  let seen = 0;
  let heldCount = 0;
  let held: (() => void)[] | null = null;
  const server = await ForeignServer.start((response, body) => {
    seen++;
    if (seen === 50) {
      const waiting: (() => void)[] = [];
      held = waiting;
      setTimeout(() => {
        held = null;
        heldCount = waiting.length;
        for (const send of waiting) send();
      }, 300);
    }
    if (held === null) sendResults(response, body);
    else held.push(() => sendResults(response, body));
  });
  t.after(() => server.stop());
  const args = ["--absent", "1", "--rate", "200", "--connections", "2", "--verify", "0"];
  const report = await runLoad(server.url.origin, args, 1);
  assertAddsUp(report);
  assert.deepEqual(report.failures, [], "nothing had to be verified");
  assert.equal(report.requests.answered, 200);
  // 60 of the 200 were due in the 300 ms, evenly: the slowest 20 of them waited for 200 ms or more.
  assert.ok((report.latency?.maxMs ?? 0) >= 290, `max ${report.latency?.maxMs}`);
  assert.ok((report.latency?.p999Ms ?? 0) >= 290, `p99.9 ${report.latency?.p999Ms}`);
  const latencyMs = report.latency?.p90Ms ?? 0;
  assert.ok(latencyMs >= 180, `p90 ${latencyMs}`);
  // Two were on their way: who looks at those alone sees two of 200.
  assert.ok(heldCount > 0 && heldCount <= 2, `${heldCount} were held`);
  const serviceMs = report.service?.p90Ms ?? assert.fail("no service times");
  assert.ok(serviceMs < latencyMs, `service p90 ${serviceMs}, latency p90 ${latencyMs}`);
  assert.ok(report.generator.waitedShare > 0.2, `${report.generator.waitedShare} waited`);
  assert.ok(report.warnings.some(one => one.includes("had to wait for a free connection")));
});

test("HTTP statuses, socket errors, time-outs and bodies that are no answers are told apart, estimates from proofs", async t => {
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
  t.after(() => server.stop());
  const calls = ["--style", "eth", "--keys", keys, "--batch", "4", "--estimates", "0.5", "--verify", "0"];
  const pace = ["--rate", "400", "--timeout", String(TIMEOUT_MS), "--connections", "20"];
  const report = await runLoad(server.url.origin, [...calls, ...pace]);
  assertAddsUp(report);
  const {errors, requests, failures} = report;
  assert.ok(failures.length > 0);
  assert.equal(requests.due, 100);
  assert.deepEqual(errors.http.map(error => [error.code, error.count, error.message]).sort(), [
    ["204", 10, ""],
    ["503", 10, "busy"],
  ]);
  assert.deepEqual(
    errors.socket.map(error => [error.code, error.count]),
    [["CLOSED", 10]],
  );
  assert.equal(errors.timeouts, 10);
  assert.equal(errors.malformed, 4 * 10);
  assert.equal(errors.malformedReason, "not JSON: <html>");
  assert.ok((report.latency?.maxMs ?? 0) >= TIMEOUT_MS, "a time-out is as long as it was waited for");
  const {results, estimates, proofs} = report.calls;
  assert.ok(estimates > 0.3 * results && estimates < 0.7 * results, `${estimates} estimates`);
  assert.equal(proofs, results - estimates);
});

test("a server that does not say its state roots is loaded, but that nothing could be verified is a failure", async t => {
  const server = await ForeignServer.start(sendResults);
  t.after(() => server.stop());
  const report = await runLoad(server.url.origin, ["--absent", "1", "--rate", "40"]);
  assert.equal(report.verification.checked, 0);
  assert.match(report.verification.skipped ?? "", /chain_getStateRoot: no such method/);
  assert.equal(report.calls.results, report.calls.due);
  assert.equal(report.failures.length, 1);
  assert.match(report.failures[0] ?? "", /^Nothing could be verified: .*--verify 0 loads a server without/);
  assert.deepEqual(report.server, {client: null, chainId: null, oldest: null, newest: null});
});

test("proofs at block 0 are not verified where its header commits to the empty state, as a new anvil's does", async t => {
  const stateRoot = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
  const server = await ForeignServer.start(sendResults, {eth_getBlockByNumber: {number: "0x0", stateRoot}});
  t.after(() => server.stop());
  const {verification} = await runLoad(server.url.origin, [
    ...["--style", "eth", "--absent", "1", "--rate", "40"],
  ]);
  assert.match(
    verification.skipped ?? "",
    /header of block 0 commits to the empty state.*: mine a block first/,
  );
});

test("an interrupt ends the load early, and the report is of what was measured", async t => {
  let bench: Daemon | undefined;
  let seen = 0;
  const server = await ForeignServer.start((response, body) => {
    if (++seen === 200) bench?.child.kill("SIGINT");
    sendResults(response, body);
  });
  t.after(() => server.stop());
  const args = ["--absent", "1", "--duration", "600", "--warm-up", "0", "--verify", "0", "--json"];
  bench = new Daemon(["load", "--url", server.url.origin, ...args]);
  const {code, stdout, stderr} = await bench.finished;
  const report = JSON.parse(stdout) as LoadReport;
  assert.deepEqual(failuresOf(report), []);
  assert.equal(code, isInconclusive(report) ? 3 : Math.min(1, report.failures.length));
  assert.match(stderr, /^SIGINT: waiting for the requests under way\n/);
  assert.ok(report.stopped && report.seconds < 600, `${report.seconds} s`);
  assert.ok(report.requests.due >= 200, `${report.requests.due} requests`);
  assertAddsUp(report);
  assert.ok(report.warnings.some(one => one.startsWith("Ended early")));
});
