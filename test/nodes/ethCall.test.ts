/** eth_call on the conformance chain answers as geth does: what a call returns, reverts with, or the code of its error. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import fc from "fast-check";
import {CONFORMANCE, CONFORMANCE_BLOCKS, GETH_PROOFS} from "../support/chains/conformanceChain.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {compareCalls} from "../support/estimates/comparedCalls.ts";
import {randomCall} from "../support/estimates/randomCalls.ts";
import {OwnService} from "../support/http/ownService.ts";
import {GETH} from "../support/processes/clientKinds.ts";
import {notRun} from "../support/processes/notRun.ts";
import {RealNode} from "../support/processes/realNode.ts";
import {importHere} from "../support/stores/importedStore.ts";

const CALLS = 5000;
/** The first block after the merge. */
const MERGED = 36;

test("eth_call is geth's for 5 000 random calls at blocks from the merge to osaka", async t => {
  if (!existsSync(CONFORMANCE)) return notRun(t, `${CONFORMANCE} is absent`);
  const folder = new WorkFolder();
  const [genesisPath, blocks] = [join(CONFORMANCE, "genesis.json"), join(CONFORMANCE, "chain.rlp")];
  const flags = ["--state.scheme", "hash", "--rpc.evmtimeout", "0"];
  const node = await RealNode.start(GETH, {folder: folder.file("geth"), genesisPath, flags});
  t.after(() => node.stop());
  assert.equal(await node.request("admin_importChain", blocks), true);
  const db = folder.file("db");
  const outcome = await importHere([
    "--db",
    db,
    "--genesis",
    genesisPath,
    "--blocks",
    blocks,
    "--finalized",
    "last",
  ]);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  const patient = {estimates: true, limits: {timeoutMs: 3_600_000}, settings: {timeMs: 600_000}};
  const service = await OwnService.serve(["--db", db, "--workers", "1"], patient);
  t.after(() => service.stop());
  const times: number[] = [];
  for (let block = MERGED; block <= CONFORMANCE_BLOCKS; block++) {
    const {timestamp} = await node.request<{timestamp: string}>(
      "eth_getBlockByNumber",
      `0x${block.toString(16)}`,
      false,
    );
    times.push(Number(timestamp));
  }
  const chain = {
    hardfork: "osaka",
    blocks: times.map((_, at) => MERGED + at),
    accounts: Object.keys(GETH_PROOFS.accounts).slice(0, 40),
    times,
  };
  const outcomes = await compareCalls(service, node, fc.sample(randomCall(chain), CALLS), true);
  t.diagnostic(JSON.stringify(outcomes));
});
