/** Estimates on the public conformance chain, as the standard nodes make them there. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";

const CONFORMANCE = fileURLToPath(
  new URL("../shared/data/rpc-compat", import.meta.resolve("#package/package.json")),
);
const CALLER = "0x0102030000000000000000000000000000000000";
/** Has a storage slot to show and methods of one byte. */
const CALL_ME = "0x17e7eedce4ac02ef114a7ed9fe6e2f33feba1667";
/** Reverts: with Error(string) where the input says so, else with Panic(uint256). */
const CALL_REVERT = "0x0ee3ab1371c93e7c0c281cc0c2107cdebc8b1930";

/** Where the standard nodes' search ends for a call that needs `least` gas whatever it is given, and has no refund. */
function searchLikeStandardNodes(least: number): number {
  let low = least - 1;
  let high = Math.floor(((least + 2300) * 64) / 63);
  while ((high - low) / high >= 0.015) {
    const middle = Math.floor((low + high) / 2);
    if (middle >= least) high = middle;
    else low = middle;
  }
  return high;
}

test("a transfer, a call and two reverts are the standard nodes'", async t => {
  if (!existsSync(CONFORMANCE)) return notRun(t, `${CONFORMANCE} is absent`);
  const folder = await WorkFolder.create();
  const db = folder.file("db");
  const source = [
    ["--genesis", join(CONFORMANCE, "genesis.json")],
    ["--blocks", join(CONFORMANCE, "chain.rlp")],
  ];
  const {code, stderr} = await runProofd(["import", "--db", db, ...source.flat(), "--finalized", "last"]);
  assert.equal(code, 0, stderr);
  const service = await OwnService.serve(["--db", db, "--workers", "1"], {
    estimates: true,
    limits: {timeoutMs: 3_600_000},
    settings: {timeMs: 600_000},
  });
  t.after(async () => {
    await service.stop();
    await folder.remove();
  });
  const estimate = (call: object) => service.call("chain_estimateGas", [call, "latest"]);
  const from = "0xaa00000000000000000000000000000000000000";
  const transfer = await estimate({from, to: "0x0100000000000000000000000000000000000000"});
  assert.equal(transfer.result.gasLimit, "0x5208");
  const gasLimit = Number((await estimate({from: CALLER, to: CALL_ME, data: "0xff01"})).result.gasLimit);
  assert.ok(gasLimit <= 0x5316 && (0x5316 - gasLimit) / 0x5316 < 0.015, `${gasLimit}`);
  assert.equal(searchLikeStandardNodes(gasLimit), 0x5316);
  const word = (digits: string) => digits.padStart(64, "0");
  assert.deepEqual((await estimate({to: CALL_REVERT, data: "0x01"})).error, {
    code: 3,
    message: "execution reverted: user error",
    data: `0x08c379a0${word("20")}${word("a")}${Buffer.from("user error").toString("hex")}`,
  });
  assert.deepEqual((await estimate({to: CALL_REVERT, data: "0x00"})).error, {
    code: 3,
    message: "execution reverted: panic: assert(false) (0x1)",
    data: `0x4e487b71${word("1")}`,
  });
});
