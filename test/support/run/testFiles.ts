/**
 * Runs test files one after the other in one process. Each is a suite, so that its hooks are its own and a failure names it.
 *
 * Run: node testFiles.js FILE... (paths below dist/test)
 */
import asyncHooks, {type AsyncHook} from "node:async_hooks";

const TESTS = new URL("../../", import.meta.url);

/**
 * Modules that await something while they are loaded. node:test does not know the suite of a file that has to wait for one of
 * them, so they are loaded first where there are several suites. Without this, a file has no tests, which fails.
 */
const AWAITING = ["../storage/hash/keccak.js", "../evm/interpreter/ecrecover.js"];

// node:test hooks into every promise of its process to know the test that an event belongs to. That takes a fourth of the time of
// tests with many promises. It is needed until all files are loaded, so that each test comes into the suite of its file.
const {createHook} = asyncHooks;
const hooks: AsyncHook[] = [];
asyncHooks.createHook = callbacks => {
  const hook = createHook(callbacks);
  hooks.push(hook);
  return hook;
};
const {after, suite} = await import("node:test");
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error: unknown) => {
    console.error(`${event} in a test:`, error);
    process.exit(1);
  });
await import("../processes/childProcesses.ts");
const {noteEnd} = await import("./processorTime.ts");

const files = process.argv.slice(2);
const load = (path: string) => import(new URL(path, TESTS).href);
if (files.length > 1) await Promise.all(AWAITING.map(load));
let loading = files.length;
for (const file of files)
  suite(file, async () => {
    await load(file);
    after(() => noteEnd(file));
    if (--loading === 0) for (const hook of hooks) hook.disable();
  });
