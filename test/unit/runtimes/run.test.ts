import assert from "node:assert/strict";
import {readdir} from "node:fs/promises";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {runChild} from "../../support/processes/childProcesses.ts";

const RUN = fileURLToPath(new URL("../../runtimes/run.js", import.meta.url));
const HAS_NODE = process.platform === "linux" && process.arch === "x64";

let folder: WorkFolder;
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

test("the tests on other versions of Node are not run without the registry, and say why", async () => {
  const env = {
    PATH: process.env.PATH ?? "",
    XDG_CACHE_HOME: folder.path,
    npm_config_cache: folder.file("npm"),
    // Nothing listens there.
    npm_config_registry: "http://127.0.0.1:1/",
    npm_config_fetch_retries: "0",
  };
  const {code, stderr} = await runChild(process.execPath, [RUN], {env});
  assert.equal(code, 2, stderr);
  assert.match(
    stderr,
    HAS_NODE ? /^NOT RUN: npm did not install .*ECONNREFUSED/s : /^NOT RUN: npm has Node for/,
  );
  assert.deepEqual(await readdir(folder.file("proofd")).catch(() => []), []);
});
