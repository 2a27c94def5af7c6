/** `proofd load` against block 0 of a fresh node, whose header does not name its state. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {type ForeignCall, ForeignServer} from "../../support/http/foreignServer.ts";
import {runLoad} from "../../support/http/loadRun.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";

test("a fresh node's block 0, whose header names the empty state, is not reported as wrong", async t => {
  const anvil = await Anvil.start([]);
  if (typeof anvil === "string") {
    notRun(t, anvil);
    return;
  }
  try {
    assert.equal(await anvil.request("eth_blockNumber"), "0x0");
    const style = ["--style", "eth", "--absent", "0.5", "--rate", "160", "--slots", "1"];
    const fresh = await runLoad(anvil.url, style);
    assert.deepEqual(fresh.failures, []);
    const {checked, wrong, accounts, note} = fresh.verification;
    assert.deepEqual([checked, wrong], [40, 0]);
    assert.ok(accounts.present > 0 && accounts.absent > 0, JSON.stringify(accounts));
    assert.match(note ?? "", /^The header of block 0 names the empty state/);
    assert.ok(fresh.notes.includes(note ?? ""));

    await anvil.request("evm_mine");
    const mined = await runLoad(anvil.url, [...style, "--blocks", "1"]);
    assert.deepEqual([mined.failures, mined.verification.wrong], [[], 0]);
    assert.equal(mined.verification.note, null, "block 1 has the root that its header names");
  } finally {
    await anvil.stop();
  }
});

test("an answer of block 0 that leads to another state than the others is still found", async t => {
  const anvil = await Anvil.start([]);
  if (typeof anvil === "string") {
    notRun(t, anvil);
    return;
  }
  // One account's balance is changed between the proofs of a load and the proof that the root is taken from.
  const [first] = await anvil.request<string[]>("eth_accounts");
  const stale = await anvil.request("eth_getProof", first, [], "0x0");
  await anvil.request("anvil_setBalance", first, "0x1");
  const server = await ForeignServer.start(
    async (response, body) => {
      const call = [body].flat()[0] as ForeignCall;
      const isProbe = Number(call.params[0]) === 0;
      const result = isProbe ? await anvil.request("eth_getProof", ...call.params) : stale;
      response.end(JSON.stringify({jsonrpc: "2.0", id: call.id, result}));
    },
    {
      eth_blockNumber: "0x0",
      eth_accounts: [first],
      eth_getBlockByNumber: await anvil.request("eth_getBlockByNumber", "0x0", false),
    },
  );
  try {
    const report = await runLoad(server.url, ["--style", "eth", "--rate", "80"]);
    assert.equal(report.verification.wrong, 20);
    assert.deepEqual(report.failures, ["20 of 20 verified answers are wrong."]);
  } finally {
    await server.stop();
    await anvil.stop();
  }
});
