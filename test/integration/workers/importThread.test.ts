/** The import thread of a closed engine, which the next one takes. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import type {Piscina} from "piscina";
import {ImportThread} from "../../../workers/pool/importThread.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {createLines} from "../../support/chains/serviceLines.ts";
import {openOwned} from "../../support/stores/importedStore.ts";

test("a closed engine's thread goes to one engine only, and a late error of it to none", async () => {
  const folder = await WorkFolder.create();
  const [directory, path] = [folder.file("db"), folder.file("blocks.ndjson")];
  await writeFile(path, encodeLines(createLines(0, 0)));
  const store = await openOwned(directory);
  const errors: string[] = [];
  const create = (name: string) =>
    new ImportThread({directory, cacheBytes: 1 << 20}, error => errors.push(`${name}: ${error.message}`));
  /** @returns what it runs on */
  const run = async (thread: ImportThread): Promise<Piscina> => {
    const {port1: port} = new MessageChannel();
    const outcome = await thread.run({source: {kind: "diffs", path}, allowUnverified: true, port});
    assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
    return (thread as unknown as {piscina: Piscina}).piscina;
  };
  const first = create("first");
  const pool = await run(first);
  pool.emit("error", new Error("own"));
  await first.close();
  await first.close();
  const [second, third] = [create("second"), create("third")];
  pool.emit("error", new Error("late"));
  assert.equal(await run(second), pool);
  await first.close();
  assert.notEqual(await run(third), pool);
  pool.emit("error", new Error("own"));
  assert.deepEqual(errors, ["first: own", "second: own"]);
  await Promise.all([second.close(), third.close()]);
  await store.close();
  await folder.remove();
});
