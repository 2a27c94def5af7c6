/** Reasons why a load has not passed, from the report's figures. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {GENERATOR_WAS_LIMIT, isInconclusive, listFailures} from "../../../../load/report/judgement.ts";
import type {Measured} from "../../../../load/report/measurement.ts";
import {createSkipped, type Verification} from "../../../../load/verification/verifySamples.ts";

const VERIFIED: Verification = {
  ...createSkipped(""),
  checked: 5,
  accounts: {present: 5, absent: 0},
  skipped: undefined,
};

interface Case {
  readonly requests?: number;
  /** Of the requests, each of one call. */
  readonly lost?: number;
  readonly calls?: Partial<Measured["calls"]>;
  readonly settings?: Partial<Measured["settings"]>;
  readonly limits?: Partial<Measured["settings"]["limits"]>;
  readonly loop?: "open";
  readonly wasLimit?: boolean;
  readonly verification?: Verification;
}

function failuresOf({
  requests = 10,
  lost = 0,
  calls,
  settings,
  limits,
  loop,
  wasLimit = false,
  verification,
}: Case): string[] {
  const answered = requests - lost;
  return listFailures({
    loop: loop ?? "closed",
    generator: {wasLimit},
    requests: {due: requests, answered},
    calls: {due: requests, results: answered, errors: 0, malformed: 0, lost, ...calls},
    errors: {malformedReason: "not JSON: <html>"},
    settings: {
      limits: {maxErrors: {percent: 100}, maxP99Ms: undefined, ...limits},
      ...{verify: 5, absent: 0, ...settings},
    },
    latency: {p99Ms: 10},
    verification: verification ?? VERIFIED,
  } as Measured);
}

test("a load without results names the first thing that is missing, and nothing that follows from it", () => {
  const none = {limits: {maxErrors: {calls: 0}}, verification: createSkipped("there was no result")};
  assert.deepEqual(failuresOf({...none, requests: 0}), ["Nothing was measured: no request was due."]);
  assert.deepEqual(failuresOf({...none, requests: 7, lost: 7}), ["No request was answered."]);
  assert.deepEqual(failuresOf({...none, calls: {results: 0, errors: 10}}), ["No call got a result."]);
});

test("as many calls may fail as --max-errors allows, and a share of them is exact", () => {
  const few = {requests: 100, lost: 10};
  assert.deepEqual(failuresOf({...few, limits: {maxErrors: {calls: 10}}}), []);
  assert.deepEqual(failuresOf({...few, limits: {maxErrors: {calls: 9}}}), [
    "10 of 100 calls failed; --max-errors allows 9.",
  ]);
  // 0.57 * 10 000 is 5699.999999999999 in floating point.
  for (const [requests, percent, most] of [
    [10_000, 0.57, 57],
    [1000, 0.3, 3],
    [999, 0.3, 2],
    [100_000, 0.29, 290],
    [10, 0, 0],
  ] as const) {
    const limits = {maxErrors: {percent}};
    assert.deepEqual(failuresOf({requests, limits, lost: most}), []);
    const [failure] = failuresOf({requests, limits, lost: most + 1});
    assert.match(failure ?? "", new RegExp(` failed; --max-errors allows ${percent}%\\.$`));
  }
});

test("an answer without result or error is a failure whatever --max-errors allows", () => {
  assert.deepEqual(failuresOf({calls: {results: 9, malformed: 1}}), [
    "1 call got HTTP 200 without an answer: not JSON: <html>.",
  ]);
});

test("p99 may be as high as its limit: from due in an open loop, service time in a closed one", () => {
  assert.deepEqual(failuresOf({limits: {maxP99Ms: 10}}), []);
  const limits = {maxP99Ms: 9.999};
  const failure = (kind: string) => [`p99 (${kind}) is 10 ms; --max-p99 allows 9.999 ms.`];
  assert.deepEqual(failuresOf({limits, loop: "open"}), failure("from due"));
  assert.deepEqual(failuresOf({limits}), failure("service"));
});

test("a load whose generator was the limit has not passed, whatever else is right", () => {
  assert.deepEqual(failuresOf({wasLimit: true}), ["The generator was the limit, not the server."]);
  const slow = failuresOf({wasLimit: true, limits: {maxP99Ms: 1}, loop: "open"});
  assert.deepEqual([slow.length, slow.at(-1)], [2, GENERATOR_WAS_LIMIT]);
  assert.deepEqual(
    [[], [GENERATOR_WAS_LIMIT], slow].map(failures => isInconclusive({failures})),
    [false, true, false],
  );
});

test("absent accounts alone are a failure where it cannot be by chance", () => {
  const verified = (absent: number) => ({...VERIFIED, checked: absent, accounts: {present: 0, absent}});
  for (const [absent, count, expected] of [
    [0, 1, 1],
    [0.5, 19, 0],
    [0.5, 20, 1],
    [0.99, 200, 0],
    [1, 200, 0],
  ] as const) {
    const failures = failuresOf({settings: {absent}, verification: verified(count)});
    assert.equal(failures.length, expected, `${count} at ${absent}`);
  }
  const [failure] = failuresOf({verification: verified(2)});
  assert.match(
    failure ?? "",
    /^None of 2 verified accounts exists, although only 0 % absent ones were asked/,
  );
  const estimates = {...VERIFIED, accounts: {present: 0, absent: 0}, estimates: 5};
  assert.deepEqual(failuresOf({verification: estimates}), [], "estimates name no absent account");
});
