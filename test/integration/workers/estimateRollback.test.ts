/** Estimates at the newest block, and at a block that a rollback removed after the call was taken. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {StateStore} from "../../../storage/stateStore.ts";
import {Estimator} from "../../../workers/estimate/estimator.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../../workers/messages/estimateSettings.ts";
import {ACCOUNTS, createLines} from "../../support/chains/serviceLines.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

/** Never reached. */
const LIMIT_MS = 3_600_000;

test("a call at the newest block, which is removed meanwhile, is answered at the newest one that is left", async () => {
  const own = await TemporaryStore.create();
  await own.mustImport(createLines(0, 3));
  await own.engine.close();
  const store = await StateStore.open({directory: own.directory, role: "owner", cacheBytes: 1 << 20});
  try {
    const settings = {...DEFAULT_ESTIMATE_SETTINGS, hardfork: "prague", timeMs: LIMIT_MS} as const;
    const estimator = new Estimator(store.reader, settings, 1337n);
    const [from, to] = ACCOUNTS.map(account => Buffer.from(account.slice(2), "hex"));
    const call = {from: from as Buffer, to: to as Buffer, value: 0n, data: new Uint8Array(0)};
    const expected = await estimator.estimate({...call, block: 3});
    assert.deepEqual(await estimator.estimate({...call, block: 7, isLatest: true}), expected);
    await assert.rejects(estimator.estimate({...call, block: 7}), {code: "BLOCK_UNKNOWN"});
  } finally {
    await store.close();
    await own.reopen();
    await own.close();
  }
});
