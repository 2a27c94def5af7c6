/**
 * Runs test files one after the other in one process. Each is a suite, so that its hooks are its own and a failure names it.
 *
 * Run: node testFiles.js FILE... (paths below dist/test)
 */
import {suite} from "node:test";
import "../processes/childProcesses.ts";

const TESTS = new URL("../../", import.meta.url);

/**
 * Modules that await something while they are loaded. node:test does not know the suite of a file that has to wait for one of
 * them, so they are loaded first where there are several suites. Without this, a file has no tests, which fails.
 */
const AWAITING = [
  "../storage/hash/keccak.js",
  "../storage/leveldb/crc32c.js",
  "../workers/execution/ecrecover.js",
  "../workers/execution/jumpAnalyses.js",
];

const files = process.argv.slice(2);
const load = (path: string) => import(new URL(path, TESTS).href);
if (files.length > 1) await Promise.all(AWAITING.map(load));
for (const file of files)
  suite(file, async () => {
    await load(file);
  });
