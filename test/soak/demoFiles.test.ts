/** The files of the demo chain are what its story makes. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {DEMO_FOLDER} from "../../demo/artefact.ts";
import type {DemoFiles} from "../../demo/demoStory.ts";
import {OwnThread} from "../support/processes/ownThread.ts";

test("making the demo chain again gives the same bytes", async () => {
  const thread = new OwnThread();
  try {
    const module = new URL("../../demo/demoStory.js", import.meta.url);
    const {genesis, chain, addresses} = await thread.run<DemoFiles>(module, "makeDemoFiles");
    assert.equal(genesis, readFileSync(join(DEMO_FOLDER, "genesis.json"), "utf8"));
    assert.deepEqual(Buffer.from(chain), readFileSync(join(DEMO_FOLDER, "chain.rlp")));
    assert.equal(addresses, readFileSync(join(DEMO_FOLDER, "addresses.json"), "utf8"));
  } finally {
    await thread.close();
  }
});
