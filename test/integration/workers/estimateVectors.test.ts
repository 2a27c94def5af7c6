/** Estimates on the public conformance chain, as the standard nodes make them there. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {join} from "node:path";
import {after, before, type TestContext, test} from "node:test";
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
const NEWEST = "latest";

let folder: WorkFolder | undefined;
let service: OwnService | undefined;

before(async () => {
  if (!existsSync(CONFORMANCE)) return;
  folder = await WorkFolder.create();
  const db = folder.file("db");
  const source = [
    ["--genesis", join(CONFORMANCE, "genesis.json")],
    ["--blocks", join(CONFORMANCE, "chain.rlp")],
  ];
  const {code, stderr} = await runProofd(["import", "--db", db, ...source.flat(), "--finalized", "last"]);
  assert.equal(code, 0, stderr);
  service = await OwnService.serve(["--db", db, "--workers", "1"], {
    estimates: true,
    limits: {timeoutMs: 3_600_000},
    settings: {timeMs: 600_000},
  });
});

after(async () => {
  await service?.stop();
  await folder?.remove();
});

function serviceOrSkip(t: TestContext): OwnService | undefined {
  if (service === undefined) {
    t.diagnostic(`NOT CHECKED on the conformance chain: ${CONFORMANCE} is absent`);
    notRun(t, `${CONFORMANCE} is absent`);
  }
  return service;
}

async function estimateLimit(one: OwnService, call: object): Promise<number> {
  const {result, error} = await one.call("chain_estimateGas", [call, NEWEST]);
  assert.equal(error, undefined);
  return Number((result as {gasLimit: string}).gasLimit);
}

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

test("a transfer is 0x5208", async t => {
  const one = serviceOrSkip(t);
  if (one === undefined) return;
  const call = {
    from: "0xaa00000000000000000000000000000000000000",
    to: "0x0100000000000000000000000000000000000000",
  };
  assert.equal(await estimateLimit(one, call), 0x5208);
});

test("a call is the least from which the standard nodes' search makes its 0x5316", async t => {
  const one = serviceOrSkip(t);
  if (one === undefined) return;
  const gasLimit = await estimateLimit(one, {from: CALLER, to: CALL_ME, data: "0xff01"});
  assert.ok(gasLimit <= 0x5316 && (0x5316 - gasLimit) / 0x5316 < 0.015, `${gasLimit}`);
  assert.equal(searchLikeStandardNodes(gasLimit), 0x5316);
});

test("a revert is error 3 with the reason and its bytes", async t => {
  const one = serviceOrSkip(t);
  if (one === undefined) return;
  const fail = async (data: string) => (await one.call("chain_estimateGas", [{to: CALL_REVERT, data}])).error;
  const word = (digits: string) => digits.padStart(64, "0");
  assert.deepEqual(await fail("0x01"), {
    code: 3,
    message: "execution reverted: user error",
    data: `0x08c379a0${word("20")}${word("a")}${Buffer.from("user error").toString("hex")}`,
  });
  assert.deepEqual(await fail("0x00"), {
    code: 3,
    message: "execution reverted: panic: assert(false) (0x1)",
    data: `0x4e487b71${word("1")}`,
  });
});
