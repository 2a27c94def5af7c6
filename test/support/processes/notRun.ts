/** Skips a test whose means are not on this machine, so that whoever reads the report finds it: a skipped test shows nothing. */
import type {TestContext} from "node:test";

/** @param why - what is missing */
export function notRun(t: TestContext, why: string): void {
  t.skip(`NOT RUN: ${why}`);
}
