/**
 * A process of node:test ends with its last test, whatever that has left open, and with the runner. Imported by all that
 * makes what keeps a process going.
 */
import {after, afterEach, beforeEach} from "node:test";

/** From the last test to the end of the process. Closing takes milliseconds; no more is asked of a busy machine. */
const CLOSING_MS = 30_000;

/** Shorter than the time-out of run.ts, which on Node 20 is the file's and does not name the test that hangs. */
const LONG_TEST_MS = 600_000;

/** Set by the runner. */
if (process.env.NODE_TEST_CONTEXT !== undefined) {
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
