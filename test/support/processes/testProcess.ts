/** Ends a process of node:test after its last test. Every module that would keep one alive imports this one. */
import {after, afterEach, beforeEach} from "node:test";
import {RUN_VARIABLE} from "./runVariable.ts";

/** Time from the last test to the end of the process. Closing takes milliseconds; the rest is for a busy machine. */
const CLOSING_MS = 30_000;

/** Shorter than the time-out of run.ts. On Node 20 that time-out is for a file and does not name the test that hangs. */
const LONG_TEST_MS = 600_000;

if (process.env[RUN_VARIABLE] !== undefined) {
  // The runner holds the other end of this pipe, and never writes.
  process.stdin.once("end", () => process.exit(1)).resume();
  process.stdin.unref();
  let long: NodeJS.Timeout | undefined;
  beforeEach(t => {
    const warn = () => process.stderr.write(`still under way after ${LONG_TEST_MS} ms: ${t.name}\n`);
    clearTimeout(long);
    long = setTimeout(warn, LONG_TEST_MS).unref();
  });
  afterEach(() => clearTimeout(long));
  after(() => {
    const endProcess = () => {
      const open = process.getActiveResourcesInfo();
      process.stderr.write(`left open ${CLOSING_MS} ms after the last test: ${open.join(", ")}\n`);
      process.exit(1);
    };
    setTimeout(endProcess, CLOSING_MS).unref();
  });
}
