/** Decides whether a load has passed. A failed one ends `proofd load` with exit code 1, or 3 if it is inconclusive. */
import type {ErrorLimit} from "../loadOptions.ts";
import {count, formatCount, percent} from "./figureText.ts";
import type {Measured} from "./measurement.ts";

/** If all verified accounts are absent and the probability of that is below this, the keys are wrong. */
const LUCK = 1e-6;
/** The figures are not those of the server. Warnings give the details. */
export const GENERATOR_WAS_LIMIT = "The generator was the limit, not the server.";
const HUNDREDTHS_OF_PERCENT = 10_000;

/** @returns a sentence per reason; empty if the load has passed */
export function listFailures(measured: Measured): string[] {
  const {requests, calls, errors, settings, latency, loop, verification, generator} = measured;
  if (requests.due === 0) return ["Nothing was measured: no request was due."];
  if (requests.answered === 0) return ["No request was answered."];
  const failures: string[] = [];
  const {maxErrors, maxP99Ms} = settings.limits;
  const failed = calls.errors + calls.lost;
  if (calls.malformed > 0)
    failures.push(
      `${count(calls.malformed, "call")} got HTTP 200 without an answer: ${errors.malformedReason}.`,
    );
  if (calls.results === 0) return [...failures, "No call got a result."];
  if (isBeyond(failed, calls.due, maxErrors)) {
    const allowed = "calls" in maxErrors ? formatCount(maxErrors.calls) : `${maxErrors.percent}%`;
    failures.push(
      `${formatCount(failed)} of ${count(calls.due, "call")} failed; --max-errors allows ${allowed}.`,
    );
  }
  if (maxP99Ms !== undefined && latency !== undefined && latency.p99Ms > maxP99Ms)
    failures.push(
      `p99 (${loop === "open" ? "from due" : "service"}) is ${latency.p99Ms} ms; --max-p99 allows ${maxP99Ms} ms.`,
    );
  failures.push(...judgeVerification(verification, settings));
  if (generator.wasLimit) failures.push(GENERATOR_WAS_LIMIT);
  return failures;
}

/** True if the only failure is that the generator was the limit: nothing is known about the server. */
export function isInconclusive({failures}: {readonly failures: readonly string[]}): boolean {
  return failures.length === 1 && failures[0] === GENERATOR_WAS_LIMIT;
}

function isBeyond(failed: number, due: number, limit: ErrorLimit): boolean {
  if ("calls" in limit) return failed > limit.calls;
  // With integers: 0.57 % of 10 000 is 57, not 56.99999999999999.
  return failed * 100 * HUNDREDTHS_OF_PERCENT > Math.round(limit.percent * HUNDREDTHS_OF_PERCENT) * due;
}

function judgeVerification(
  {checked, wrong, skipped, accounts}: Measured["verification"],
  settings: Measured["settings"],
): string[] {
  if (settings.verify === 0) return [];
  if (checked === 0)
    return [`Nothing could be verified: ${skipped}. --verify 0 loads a server without verifying.`];
  const failures: string[] = [];
  if (wrong > 0) failures.push(`${formatCount(wrong)} of ${count(checked, "verified answer")} are wrong.`);
  const {present, absent} = accounts;
  if (present === 0 && absent > 0 && settings.absent ** absent < LUCK)
    failures.push(
      `None of ${count(absent, "verified account")} exists, although only ${percent(settings.absent)} absent ones were ` +
        "asked for: is --keys or --accounts of another chain? --absent 1 asks for absent accounts only.",
    );
  return failures;
}
