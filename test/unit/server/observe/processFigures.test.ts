/** The figures of a process that has no free descriptor: it must still tell of the others, and of that. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {runChild} from "../../../support/processes/childProcesses.ts";

const FIGURES = import.meta.resolve("../../../../server/observe/processFigures.js");
const LIMIT = 64;
/** Prints the figures before and after it has opened all files that it may. */
const PROGRAM = `
const {openSync} = await import("node:fs");
const {ProcessFigures} = await import(process.argv[1]);
const figures = new ProcessFigures();
const before = figures.read();
let code;
while (code === undefined)
  try {
    openSync("/dev/null");
  } catch (error) {
    code = error.code;
  }
const after = figures.read();
process.stdout.write(JSON.stringify({code, before, after}));`;

test("without a free descriptor the figures of the process are read, and say that none is free", {
  skip: process.platform === "linux" ? false : "needs /proc",
}, async () => {
  const node = [process.execPath, "--input-type=module", "-e", PROGRAM, FIGURES];
  const {stdout, stderr} = await runChild("sh", ["-c", `ulimit -n ${LIMIT} && exec "$@"`, "sh", ...node]);
  assert.notEqual(stdout, "", stderr);
  const {code, before, after} = JSON.parse(stdout);
  assert.equal(code, "EMFILE");
  assert.equal(before.process_max_fds, LIMIT);
  assert.ok(before.process_open_fds < LIMIT);
  assert.ok(before.process_resident_memory_bytes > 0 && before.nodejs_heap_size_used_bytes > 0);
  assert.deepEqual([after.process_open_fds, after.process_max_fds], [LIMIT, LIMIT]);
  assert.ok(after.process_cpu_seconds_total > 0);
});
