/** What `proofd serve` loads before it knows whether it needs it: each library costs every start. */
import assert from "node:assert/strict";
import {createRequire} from "node:module";
import {test} from "node:test";

/** Libraries in CommonJS that this process has loaded, by any import. */
function findLoaded(name: string): string[] {
  return Object.keys(createRequire(import.meta.url).cache).filter(path =>
    path.includes(`/node_modules/${name}/`),
  );
}

test("serving loads undici for a node or a gateway only", async () => {
  await import("../../../cli/commands/serveCommand.ts");
  assert.notDeepEqual(findLoaded("pino"), []);
  assert.deepEqual(findLoaded("undici"), []);
  await import("../../../server/gateway/gateway.ts");
  assert.notDeepEqual(findLoaded("undici"), []);
});
