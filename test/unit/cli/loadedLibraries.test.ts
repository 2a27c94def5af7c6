/** What `proofd serve` loads before it knows whether it needs it: each library costs every start. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {test} from "node:test";

/** In a process of its own, since test files share theirs. Prints which libraries in CommonJS are loaded after each import. */
const SCRIPT = `
  import {createRequire} from "node:module";
  const {cache} = createRequire(import.meta.url);
  for (const module of process.argv.slice(1)) {
    await import(module);
    const isLoaded = name => Object.keys(cache).some(path => path.includes("/node_modules/" + name + "/"));
    console.log(["pino", "undici"].filter(isLoaded).join());
  }
`;

test("serving loads undici for a node or a gateway only", () => {
  const modules = ["cli/commands/serveCommand.js", "server/gateway/gateway.js"].map(
    path => new URL(`../../../${path}`, import.meta.url).href,
  );
  const text = execFileSync(process.execPath, ["--input-type=module", "-e", SCRIPT, ...modules], {
    encoding: "utf8",
  });
  assert.equal(text, "pino\npino,undici\n");
});
