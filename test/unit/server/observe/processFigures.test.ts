/** The figures of a process that has no free descriptor: it must still tell of the others, and of that. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {runChild} from "../../../support/processes/childProcesses.ts";

const FIGURES = import.meta.resolve("../../../../server/observe/processFigures.js");
/** More than it inherits, whatever this process has open. */
const LIMIT = 1024;
/** Prints the figures, and those after it has opened one file, and all files that it may. */
const PROGRAM = `
const {openSync} = await import("node:fs");
const {ProcessFigures} = await import(process.argv[1]);
const figures = new ProcessFigures();
const before = figures.read();
openSync("/dev/null");
const next = figures.read();
let code;
while (code === undefined)
  try {
    openSync("/dev/null");
  } catch (error) {
    code = error.code;
  }
const after = figures.read();
process.stdout.write(JSON.stringify({code, before, next, after}));`;

test("without a free descriptor the figures of the process are read, and say that none is free", {
  skip: process.platform === "linux" ? false : "needs /proc",
}, async () => {
  const node = [process.execPath, "--input-type=module", "-e", PROGRAM, FIGURES];
  const {stdout, stderr} = await runChild("sh", ["-c", `ulimit -n ${LIMIT} && exec "$@"`, "sh", ...node]);
  assert.notEqual(stdout, "", stderr);
  const {code, before, next, after} = JSON.parse(stdout);
  assert.equal(code, "EMFILE");
  assert.equal(before.process_max_fds, LIMIT);
  assert.equal(next.process_open_fds, before.process_open_fds + 1);
  assert.ok(before.process_resident_memory_bytes > 0 && before.nodejs_heap_size_used_bytes > 0);
  assert.deepEqual([after.process_open_fds, after.process_max_fds], [LIMIT, LIMIT]);
  assert.ok(after.process_cpu_seconds_total > 0);
});
