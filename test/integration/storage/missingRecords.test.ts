/** Block records that are gone from the middle of a store. */
import assert from "node:assert/strict";
import {after, test} from "node:test";
import {addressAt} from "../../support/chains/longChain.ts";
import {startDaemon} from "../../support/processes/daemon.ts";
import {BLOCKS, LoggedStores, openLogged} from "../../support/stores/loggedStores.ts";
import {removeBlockRecord} from "../../support/stores/tamper.ts";

const stores = await LoggedStores.create();
after(() => stores.remove());

test("a block whose record is missing between others is -32603, named in the log and counted; a later one is unknown", async () => {
  const directory = await stores.copyOf(stores.bulk);
  const engine = await openLogged(directory);
  const source = {kind: "diffs", path: await stores.writeBlocks(BLOCKS)} as const;
  await engine.startImport({source, allowUnverified: true, finalized: "last"}, () => {}).outcome;
  await engine.close();
  for (const block of [0, 5]) await removeBlockRecord(directory, block);
  const daemon = await startDaemon(["--db", directory, "--estimate-workers", "1"], {estimates: true});
  try {
    let damaged = 0;
    for (const block of ["0x0", "0x5"])
      for (const [method, params] of [
        ["chain_getStateRoot", [block]],
        ["chain_getProof", [addressAt(0), [], block]],
        ["chain_estimateGas", [{from: addressAt(0), to: addressAt(1)}, block]],
      ] as const) {
        const {error} = await daemon.call(method, params);
        assert.equal(error?.code, -32603, `${method} ${block}: ${JSON.stringify(error)}`);
        await daemon.waitForStderr(new RegExp(error.data.requestId));
        assert.equal(await daemon.readMetric("proofd_damaged_records_total"), ++damaged);
      }
    assert.match(
      daemon.stderr,
      /RECORD_MISSING: record of block 5 is not in the store, although block 11 is/,
    );
    const {error} = await daemon.call("chain_getStateRoot", ["0xc"]);
    assert.equal(error.code, -32001);
    const {result} = await daemon.call("chain_getStateRoot", ["0x6"]);
    assert.equal(result.number, "0x6");
  } finally {
    await daemon.stop();
  }
});
