/** Reasons why a load has not passed, from the report's figures. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {LoadLimits} from "../../../../load/loadOptions.ts";
import {writeHtmlReport} from "../../../../load/report/htmlReport.ts";
import {listFailures} from "../../../../load/report/judgement.ts";
import type {LoadReport} from "../../../../load/report/loadReport.ts";
import {describeMachine} from "../../../../load/report/machine.ts";
import {createReport} from "../../../../load/report/measurement.ts";
import {writeTextReport} from "../../../../load/report/textReport.ts";
import {createHistogram, recordMs} from "../../../../load/traffic/latency.ts";
import {createTally, type Tally} from "../../../../load/traffic/tally.ts";
import {createSkipped, type Verification} from "../../../../load/verification/verification.ts";

const MACHINE = describeMachine();
const NO_LIMITS: LoadLimits = {maxErrors: {percent: 100}, maxP99Ms: undefined};
const VERIFIED: Verification = {
  ...createSkipped(""),
  checked: 5,
  accounts: {present: 5, absent: 0},
  skipped: undefined,
};

type Counted = Partial<Omit<Tally, "counts">> & {readonly counts?: Partial<Tally["counts"]>};

interface Case {
  readonly requests: number;
  readonly rate?: number | undefined;
  readonly tally?: Counted;
  readonly limits?: Partial<LoadLimits>;
  readonly verification?: Verification;
  readonly absent?: number;
  readonly verify?: number;
}

/** Each request has one call and took 10 ms. */
function report({requests, rate, tally, limits, verification, absent, verify}: Case): LoadReport {
  const none = createTally();
  const all = {requests, answered: requests, results: requests};
  const latency = createHistogram();
  for (let i = 0; i < requests; i++) recordMs(latency, 10);
  return createReport({
    options: {
      url: new URL("http://localhost"),
      style: "chain",
      connections: 1,
      threads: 1,
      batch: 1,
      rate,
      durationSeconds: 1,
      warmUpSeconds: 0,
      absent: absent ?? 0,
      slots: 0,
      blocks: "latest",
      estimates: 0,
      keys: {kind: "server"},
      seed: 1,
      timeoutMs: 1000,
      verify: verify ?? 5,
      limits: {...NO_LIMITS, ...limits},
      version: "1",
      commit: "1234567",
      command: "proofd load",
    },
    machine: MACHINE,
    startedAt: new Date(),
    server: {client: undefined, chainId: undefined, oldest: undefined, newest: undefined},
    blocks: undefined,
    keys: "",
    seconds: 1,
    tally: {...none, ...tally, counts: {...none.counts, ...all, ...tally?.counts}},
    latency,
    sendLag: createHistogram(),
    service: createHistogram(),
    timeline: [],
    utilization: [0],
    cpuMs: 0,
    verification: verification ?? VERIFIED,
  });
}

function failuresOf(one: Case): readonly string[] {
  const {failures, notes: _notes, ...rest} = report(one);
  assert.deepEqual(listFailures(rest), failures, "the report has them");
  return failures;
}

/** `count` of the requests were answered with HTTP 503. */
function refused(requests: number, count: number): Counted {
  const answered = requests - count;
  return {
    counts: {answered, results: answered},
    troubles: {rpc: {}, http: {"503": {count, message: ""}}, socket: {}},
  };
}

test("without anything wrong there is no failure", () => {
  assert.deepEqual(failuresOf({requests: 10, limits: {maxErrors: {calls: 0}, maxP99Ms: 11}}), []);
});

test("a load without results names the first thing that is missing, and nothing that follows from it", () => {
  const limits = {maxErrors: {calls: 0}};
  const none = {limits, verification: createSkipped("there was no result")};
  assert.deepEqual(failuresOf({...none, requests: 0}), ["Nothing was measured: no request was due."]);
  assert.deepEqual(failuresOf({...none, requests: 7, tally: refused(7, 7)}), ["No request was answered."]);
  const troubles = {rpc: {"-32001": {count: 7, message: ""}}, http: {}, socket: {}};
  const errors = {counts: {results: 0}, troubles};
  assert.deepEqual(failuresOf({...none, requests: 7, tally: errors}), ["No call got a result."]);
});

test("as many calls may fail as --max-errors allows", () => {
  const tally = refused(100, 10);
  assert.deepEqual(failuresOf({requests: 100, tally, limits: {maxErrors: {calls: 10}}}), []);
  assert.deepEqual(failuresOf({requests: 100, tally, limits: {maxErrors: {calls: 9}}}), [
    "10 of 100 calls failed; --max-errors allows 9.",
  ]);
});

test("a share of calls that may fail is exact", () => {
  // 0.57 * 10 000 is 5699.999999999999 in floating point.
  for (const [requests, percent, most] of [
    [10_000, 0.57, 57],
    [1000, 0.3, 3],
    [999, 0.3, 2],
    [100_000, 0.29, 290],
    [10, 0, 0],
  ] as const) {
    const limits = {maxErrors: {percent}};
    assert.deepEqual(failuresOf({requests, limits, tally: refused(requests, most)}), []);
    const [failure] = failuresOf({requests, limits, tally: refused(requests, most + 1)});
    assert.match(failure ?? "", new RegExp(` failed; --max-errors allows ${percent}%\\.$`));
  }
});

test("an answer without result or error is a failure whatever --max-errors allows", () => {
  const tally = {counts: {results: 9, malformed: 1}, malformedReason: "not JSON: <html>"};
  assert.deepEqual(failuresOf({requests: 10, tally}), [
    "1 call got HTTP 200 without an answer: not JSON: <html>.",
  ]);
});

test("p99 may be as high as its limit: from due in an open loop, service time in a closed one", () => {
  const {latency} = report({requests: 10});
  const p99Ms = latency?.p99Ms ?? 0;
  assert.deepEqual(failuresOf({requests: 10, limits: {maxP99Ms: p99Ms}}), []);
  const limits = {maxP99Ms: p99Ms - 0.001};
  for (const [rate, kind] of [
    [10, "from due"],
    [undefined, "service"],
  ] as const)
    assert.deepEqual(failuresOf({requests: 10, limits, rate}), [
      `p99 (${kind}) is ${p99Ms} ms; --max-p99 allows ${limits.maxP99Ms} ms.`,
    ]);
});

test("the text names each failure at its end, and so does the page", () => {
  const failed = report({requests: 10, limits: {maxP99Ms: 0.001}});
  const [failure] = failed.failures;
  assert.ok(writeTextReport(failed).endsWith(`\nFAILED: ${failure}\n`));
  const page = writeHtmlReport(failed);
  assert.match(page, /<p class="verdict bad">failed<\/p>/);
  assert.ok(page.includes(`<li>${failure}</li>`), page);
});

test("verification that was asked for must have verified something", () => {
  const verification = createSkipped("the server does not say its state roots");
  assert.equal(failuresOf({requests: 10, verification}).length, 1);
  assert.deepEqual(failuresOf({requests: 10, verification, verify: 0}), []);
});

test("absent accounts alone are a failure where it cannot be by chance", () => {
  const verified = (absent: number) => ({...VERIFIED, checked: absent, accounts: {present: 0, absent}});
  for (const [share, count, expected] of [
    [0, 1, 1],
    [0.5, 19, 0],
    [0.5, 20, 1],
    [0.99, 200, 0],
    [1, 200, 0],
  ] as const)
    assert.equal(
      failuresOf({requests: 10, absent: share, verification: verified(count)}).length,
      expected,
      `${count} at ${share}`,
    );
  const estimates = {...VERIFIED, accounts: {present: 0, absent: 0}, estimates: 5};
  assert.deepEqual(
    failuresOf({requests: 10, verification: estimates}),
    [],
    "estimates name no absent account",
  );
});
