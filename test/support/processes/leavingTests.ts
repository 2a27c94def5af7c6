/** Several test files in one, for childProcesses.test.ts. The variable LEAVES chooses one. Each leaves two processes. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {startChild} from "./childProcesses.ts";

/** Starts another process and prints the process ids of both. */
const PARENT = `
  const {pid} = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9)"]);
  console.log("started " + process.pid + " " + pid);
`;

async function leave(): Promise<void> {
  const child = startChild(process.execPath, ["-e", PARENT]);
  for await (const text of child.stdout) {
    process.stderr.write(text);
    return;
  }
}

const WAYS: Readonly<Record<string, () => void>> = {
  "a failing test": () =>
    test("fails", async () => {
      await leave();
      assert.fail("as it must");
    }),
  "a passing test": () => test("passes", leave),
  "a hook that throws": () => {
    before(async () => {
      await leave();
      throw new Error("as it must");
    });
    test("is not run", () => {});
  },
  "a test that takes too long": () =>
    test("hangs", {timeout: 1}, async () => {
      await leave();
      await new Promise(() => {});
    }),
  "a test that exits": () =>
    test("exits", async () => {
      await leave();
      process.exit(3);
    }),
  "an error that nobody catches": () =>
    test("throws", async () => {
      await leave();
      setImmediate(() => {
        throw new Error("as it must");
      });
      await new Promise(() => {});
    }),
  "a test that is killed": () =>
    test("is killed", async () => {
      await leave();
      process.kill(process.pid, "SIGKILL");
    }),
  "a test that hangs": () =>
    test("hangs", async () => {
      await leave();
      for (;;);
    }),
};

WAYS[process.env.LEAVES as string]?.();
