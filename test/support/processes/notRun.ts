/** Skips tests whose means are not on this machine, so that whoever reads the report finds them: a skipped test shows nothing. */
import {describe, type TestContext} from "node:test";

export function notRun(t: TestContext, why: string): void {
  t.skip(`NOT RUN: ${why}`);
}

/** A suite, skipped with its hooks if something is missing. @param lack - what; undefined: nothing */
export function describeNeeding(lack: string | undefined, title: string, suite: () => void): void {
  describe(title, lack === undefined ? {} : {skip: `NOT RUN: ${lack}`}, suite);
}
