/** Precompiles that are called by the transaction itself with input that they refuse. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";

/** Bytes of input of one byte again and again that each precompile refuses. */
const REFUSED_BYTES: Readonly<Record<number, number>> = {
  6: 128,
  7: 96,
  8: 192,
  9: 1,
  10: 192,
  11: 256,
  12: 160,
  13: 512,
  14: 288,
  15: 384,
  16: 64,
  17: 128,
};

let folder: WorkFolder;
let service: OwnService;

before(async () => {
  folder = await WorkFolder.create();
  service = await OwnService.serve(
    ["--db", await folder.importChain("db", 0, 0), "--hardfork", "osaka", "--workers", "1"],
    {estimates: true, limits: {timeoutMs: 3_600_000}, settings: {timeMs: 600_000}},
  );
});

after(async () => {
  await service.stop();
  await folder.remove();
});

test("input that a precompile refuses is a failed execution, not a revert", async () => {
  for (const [precompile, length] of Object.entries(REFUSED_BYTES)) {
    const to = `0x${Number(precompile).toString(16).padStart(40, "0")}`;
    const {error} = await service.call("chain_estimateGas", [{to, data: `0x${"31".repeat(length)}`}]);
    assert.equal(error?.code, -32000, `${to}: ${JSON.stringify(error)}`);
    assert.equal("data" in error, false);
  }
});
