/**
 * A real geth's proofs and headers on the conformance chain have the digests that proofd's have
 * (test/integration/workers/conformance.test.ts).
 */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {
  CONFORMANCE,
  CONFORMANCE_BLOCKS,
  digestAnswer,
  digestHeader,
  GETH_PROOFS,
  makeProofBatch,
} from "../support/chains/conformanceChain.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {GETH} from "../support/processes/clientKinds.ts";
import {notRun} from "../support/processes/notRun.ts";
import {RealNode} from "../support/processes/realNode.ts";

test("geth proves every account and slot at every block of the conformance chain as recorded, and gives its header", async t => {
  if (!existsSync(CONFORMANCE)) return notRun(t, `${CONFORMANCE} is absent`);
  const folder = new WorkFolder();
  const genesisPath = join(CONFORMANCE, "genesis.json");
  const flags = ["--state.scheme", "hash"];
  const node = await RealNode.start(GETH, {folder: folder.file("geth"), genesisPath, flags});
  t.after(() => node.stop());
  assert.equal(await node.request("admin_importChain", join(CONFORMANCE, "chain.rlp")), true);
  const [digests, headerDigests]: [string[], string[]] = [[], []];
  for (let block = 0; block <= CONFORMANCE_BLOCKS; block++) {
    const headers = {"content-type": "application/json"};
    const response = await fetch(node.url, {method: "POST", headers, body: makeProofBatch(block)});
    digests.push(digestAnswer(await response.text()));
    const tag = `0x${block.toString(16)}`;
    headerDigests.push(digestHeader(await node.request("eth_getBlockByNumber", tag, false)));
  }
  assert.deepEqual(
    {digests, headerDigests},
    {digests: GETH_PROOFS.digests, headerDigests: GETH_PROOFS.headerDigests},
  );
});
