/** eth_call on the conformance chain answers as geth does: what a call returns, reverts with, or the code of its error. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import fc from "fast-check";
import {CONFORMANCE, CONFORMANCE_BLOCKS, GETH_PROOFS} from "../support/chains/conformanceChain.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {compareCalls} from "../support/estimates/comparedCalls.ts";
import {type CallParams, randomCall} from "../support/estimates/randomCalls.ts";
import {OwnService} from "../support/http/ownService.ts";
import {GETH} from "../support/processes/clientKinds.ts";
import {notRun} from "../support/processes/notRun.ts";
import {RealNode} from "../support/processes/realNode.ts";
import {importHere} from "../support/stores/importedStore.ts";

const CALLS = 5000;
/** The first block after the merge. */
const MERGED = 36;
const PATIENT = {estimates: true, limits: {timeoutMs: 3_600_000}, settings: {timeMs: 600_000}};

interface Header {
  readonly timestamp: string;
  readonly excessBlobGas?: string;
}

test("eth_call is geth's for 5 000 random calls at blocks from the merge to osaka", async t => {
  if (!existsSync(CONFORMANCE)) return notRun(t, `${CONFORMANCE} is absent`);
  const folder = new WorkFolder();
  const [genesisPath, blocks] = [join(CONFORMANCE, "genesis.json"), join(CONFORMANCE, "chain.rlp")];
  const flags = ["--state.scheme", "hash", "--rpc.evmtimeout", "0"];
  const node = await RealNode.start(GETH, {folder: folder.file("geth"), genesisPath, flags});
  t.after(() => node.stop());
  assert.equal(await node.request("admin_importChain", blocks), true);
  const services = await Promise.all(
    ["sha256", "keccak"].map(async suite => {
      const db = folder.file(suite);
      const source = ["--suite", suite, "--genesis", genesisPath, "--blocks", blocks, "--finalized", "last"];
      const outcome = await importHere(["--db", db, ...source]);
      assert.ok(outcome.ok, JSON.stringify(outcome));
      const service = await OwnService.serve(["--db", db, "--workers", "1"], PATIENT);
      t.after(() => service.stop());
      return service;
    }),
  );
  const headers: Header[] = [];
  for (let block = MERGED; block <= CONFORMANCE_BLOCKS; block++) {
    headers.push(await node.request<Header>("eth_getBlockByNumber", `0x${block.toString(16)}`, false));
  }
  const times = headers.map(({timestamp}) => Number(timestamp));
  const cancun = headers.findIndex(({excessBlobGas}) => excessBlobGas !== undefined);
  assert.ok(cancun > 0, "the chain has blocks before and after cancun");
  // geth 1.17.10 crashes at BLOBBASEFEE in a block that has no excessBlobGas, if the time is overridden by one after cancun.
  const crashesGeth = ([, block, , overrides]: CallParams) =>
    overrides?.time !== undefined &&
    overrides.blobBaseFee === undefined &&
    Number(block) < MERGED + cancun &&
    Number(overrides.time) >= (times[cancun] as number);
  const chain = {
    hardfork: "osaka",
    blocks: times.map((_, at) => MERGED + at),
    accounts: Object.keys(GETH_PROOFS.accounts).slice(0, 40),
    times,
  };
  for (const service of services) {
    const sample = fc.sample(
      randomCall(chain).filter(params => !crashesGeth(params)),
      CALLS / services.length,
    );
    t.diagnostic(JSON.stringify(await compareCalls(service, node, sample, true)));
  }
});
