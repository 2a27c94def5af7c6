import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {test} from "node:test";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

const moduleAt = (path: string): string =>
  JSON.stringify(new URL(`../../../storage/${path}`, import.meta.url).href);

/** @returns how a process that runs the module text ends, and what it writes */
function run(text: string): {
  readonly signal: string | null;
  readonly stderr: string;
  readonly stdout: string;
} {
  return spawnSync(process.execPath, ["--input-type=module", "-e", text], {encoding: "utf8"});
}

test("a broken invariant in a thread ends the process with its name", () => {
  const broken = `import {assertInvariant} from ${moduleAt("invariant.js")};
    assertInvariant(1 === 1, "one is one");
    assertInvariant(1 === 2, "one is two");`;
  const {signal, stderr, stdout} = run(`import {Worker} from "node:worker_threads";
    const code = ${JSON.stringify(broken)};
    new Worker(new URL("data:text/javascript," + encodeURIComponent(code)))
      .on("exit", () => console.log("the process goes on"))
      .on("error", () => {});`);
  assert.equal(signal, "SIGABRT");
  assert.match(stderr, /proofd: broken invariant: one is two\n/);
  assert.equal(stdout, "");
});

test("a writer that gives a page number again ends the process before it writes", () => {
  const {signal, stderr, stdout} = run(`import {StateStore} from ${moduleAt("stateStore.js")};
    import {WriteBatch} from ${moduleAt("commit/writeBatch.js")};
    const directory = ${JSON.stringify(makeTemporaryFolder())};
    const store = await StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 20});
    for (const name of ["first", "second"]) {
      const batch = new WriteBatch(store, 1);
      batch.putPage(spare => Buffer.concat([Buffer.from("N"), Buffer.alloc(1 + spare)]));
      await batch.flush();
      console.log(name);
    }`);
  assert.equal(signal, "SIGABRT");
  assert.match(stderr, /broken invariant: page numbers rise from write to write/);
  assert.equal(stdout, "first\n");
});
