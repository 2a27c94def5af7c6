/** What a request demands, by the shape of its calls. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {DEFAULT_LIMITS} from "../../../../server/limits.ts";
import {measureDemand, refuseExcess} from "../../../../server/methods/demand.ts";
import type {RequestView} from "../../../../server/methods/method.ts";
import {MethodTable} from "../../../../server/methods/table.ts";
import {SUITE_NAMES} from "../../../../storage/hash/suiteNames.ts";
import {findSuite} from "../../../../storage/hash/suites.ts";
import {maxProofTextBytes} from "../../../../workers/prove/proofText.ts";
import {finishWork} from "../../../support/http/wholeWork.ts";

test("as many full calls for leaves, changes, multiproofs and witnesses as the cost allows fit a response", () => {
  const table = new MethodTable();
  const keys = Array.from({length: 999}, (_, at) => `0x${at.toString(16)}`);
  const entries = [{address: `0x${"11".repeat(20)}`, storageKeys: keys}];
  for (const name of SUITE_NAMES) {
    const suite = findSuite(name)?.trees ?? assert.fail(name);
    const view = {
      limits: DEFAULT_LIMITS,
      estimates: {kind: "here"},
      maxProofTextBytes: maxProofTextBytes(suite),
    } as RequestView;
    for (const [method, params, most] of [
      ["chain_getLeaves", ["accounts", "0x0", "0x1000", "latest"], 38],
      ["chain_getChanges", ["all", "0x1", "0x2", "0x0", "0x1000"], 9],
      ["chain_getMultiProof", [entries, "latest"], 20],
      ["proof_call", [{}, "latest"], 41],
    ] as const) {
      const demandOf = (calls: number) =>
        finishWork(
          measureDemand(
            Array.from({length: calls}, (_, id) => ({idText: String(id), method, params})) as never,
            table,
            view,
          ),
        );
      assert.equal(refuseExcess(demandOf(most), view), undefined, method);
      assert.match(
        refuseExcess(demandOf(most + 1), view)?.error.message ?? "",
        /units of cost .* proof_call 480;/,
      );
    }
  }
});
