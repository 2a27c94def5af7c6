/** What the runner of the suite says of files that fail, end early or are interrupted. */
import assert from "node:assert/strict";
import {once} from "node:events";
import {mkdir, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {countTime} from "../../../support/patience.ts";
import {runChild, startChild} from "../../../support/processes/childProcesses.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const RUN = fileURLToPath(new URL("../../../run.js", import.meta.url));
/** More files than processes share them on most machines. */
const GOOD_FILES = 10;
const PASSES = `import {test} from "node:test"; test("passes", () => {});`;

const folder = makeTemporaryFolder();

/** @param files - texts by name. @returns the command's arguments for a folder with these files and with good ones around them */
async function place(name: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const path = join(folder, name, "unit");
  await mkdir(path, {recursive: true});
  for (let file = 0; file < GOOD_FILES; file++) await writeFile(join(path, `${file}.test.js`), PASSES);
  for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text);
  await writeFile(join(path, "package.json"), '{"type": "module"}');
  return [RUN, path];
}

test("files that share a process are judged one by one; who fails, ends early or has no test is named at the end", async () => {
  const args = await place("failing", {
    "5bad.test.js": `import {test} from "node:test"; test("fails as it must", () => { throw new Error(); });`,
    "5empty.test.js": "",
    // What was reported at once before it would be lost on Node 22.
    "9ends.test.js": `import {test} from "node:test"; test("ends", () => setTimeout(() => process.exit(0), 500));
      test("waits", () => new Promise(() => {}));`,
    "9throws.test.js": `import {test} from "node:test";
      test("throws", () => new Promise(() => { setInterval(() => {}, 1e9); Promise.reject(new Error("late")); }));`,
  });
  const {code, stdout} = await runChild(process.execPath, args, {env: {PATH: process.env.PATH ?? ""}});
  assert.equal(code, 1);
  assert.match(stdout, /\/5bad\.test\.js: 1 FAILED of 1 tests/);
  assert.equal(stdout.split("passed, 1 tests").length - 1, GOOD_FILES);
  const ends = [
    /fails as it must/,
    /\/5empty\.test\.js has no tests/,
    /ended with 0 in \S+\/9ends\.test\.js/,
  ];
  ends.push(/ended with 1 in \S+\/9throws\.test\.js/, /unhandledRejection in a test: Error: late\n +at /);
  for (const end of ends) assert.match(stdout.slice(stdout.lastIndexOf(" of 14  ")), end);
  assert.match(stdout, /\n12 of 14 files, 11 tests, 1 failed, 0 skipped, \d processes failed, /);
});

test("a file that hangs is named when its time is over, which a busy machine makes longer", async () => {
  const hangs = `import {test} from "node:test"; test("hangs", () => new Promise(() => setInterval(() => {}, 1e9)));`;
  const [run = "", path = ""] = await place("slow", {"9.test.js": hangs});
  const {code, stdout} = await runChild(process.execPath, [run, "--timeout=2000", path]);
  assert.equal(code, 1);
  assert.match(stdout, /\ntimed out after 2000 ms in \S+\/9\.test\.js; ended with SIGKILL/);
  assert.deepEqual(
    [0, 1, 2, 4, 30].map(load => countTime(load, 2)),
    [1000, 1000, 1000, 500, 1000 / 15],
  );
});

test("an interrupted run says how far it came", async () => {
  const hangs = `import {test} from "node:test"; test("hangs", () => new Promise(() => setInterval(() => {}, 1e9)));`;
  const child = startChild(process.execPath, await place("hanging", {"9.test.js": hangs}));
  const ended = once(child, "exit");
  let stdout = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    stdout += text;
    if (stdout.includes("passed, 1 tests")) child.kill("SIGINT");
  }
  await ended;
  assert.match(
    stdout,
    new RegExp(`interrupted by SIGINT: \\d+ of ${GOOD_FILES} files, \\d+ tests, 0 failed`),
  );
});
