/** Errors in a running service that nothing catches: they stand in its log, and the process ends with 1. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {pathToFileURL} from "node:url";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {startDaemon} from "../../support/processes/daemon.ts";

let folder: WorkFolder;
let db: string;

before(async () => {
  folder = await WorkFolder.create();
  db = await folder.importChain("db", 1, 1);
});
after(() => folder.remove());

for (const [origin, fault] of [
  ["uncaughtException", "throw new Error('injected')"],
  ["unhandledRejection", "Promise.reject(new Error('injected'))"],
] as const)
  test(`an ${origin} is a fatal line of the log with its stack, and the exit code is 1`, async () => {
    const module = folder.file(`${origin}.mjs`);
    const onSignal = `if (isMainThread) process.on("SIGUSR2", () => { ${fault}; });`;
    await writeFile(module, `import {isMainThread} from "node:worker_threads";\n${onSignal}\n`);
    const env = {NODE_OPTIONS: `--import=${pathToFileURL(module).href}`};
    const daemon = await startDaemon(["--db", db, "--workers", "1"], {env});
    const {code, stderr} = await daemon.stop("SIGUSR2");
    assert.equal(code, 1, stderr);
    const line = JSON.parse(stderr.trimEnd().split("\n").at(-1) as string);
    assert.deepEqual(
      [line.level, line.origin, line.err.message, line.msg],
      [60, origin, "injected", "an error was not caught: the process ends"],
    );
    assert.match(line.err.stack, new RegExp(`${origin}\\.mjs:2`));
  });
