/** A service in this process: it starts, answers and stops. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {WorkFolder} from "../../../support/chains/serviceChain.ts";
import {codeOf} from "../../../support/estimates/assembler.ts";
import {OwnService} from "../../../support/http/ownService.ts";
import {openEngine} from "../../../support/stores/importedStore.ts";

const LOOP = `0x${"99".repeat(20)}`;
const ENDLESS = {[LOOP]: {code: codeOf("again: PUSH1 again JUMP")}};

const folder = new WorkFolder();

test("a stop that takes too long says what is still open, and ends later all the same", async () => {
  const db = await folder.importChain("db", 1, 1);
  // A quiet machine burns the default's 50 million in less time than the stop takes.
  const settings = {timeMs: 1500, gasCap: 100_000_000_000};
  const flags = ["--db", db, "--hardfork", "prague", "--workers", "1", "--estimate-workers", "1"];
  const service = await OwnService.serve(flags, {estimates: true, settings});
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "chain_estimateGas",
    params: [{to: LOOP}, "latest", ENDLESS],
  };
  const answer = fetch(service.url, {
    method: "POST",
    headers: {"content-type": "application/json"},
    body: JSON.stringify(call),
  });
  const answered = answer.then(response => response.text());
  for (let text = ""; !/proofd_queued_cost\{lane="estimate"\} [1-9]/.test(text); )
    text = await (await fetch(`${service.url}/metrics`)).text();
  // On a busy machine, requests may have ended when it looks again at what is open.
  await assert.rejects(service.stop(100), /expected an end within 100 ms; still open: /);
  assert.match(service.stderr, /"part":"requests".*"msg":"a part has not stopped in time/);
  assert.match(await answered, /the service is stopping: try again later/);
  await service.stop();
  await assert.rejects(fetch(service.url));
});

test("a part that hangs and one that fails keep neither the port nor the store open", async () => {
  const db = await folder.importChain("beside", 1, 1);
  const moreParts = [
    {name: "a part that fails", start: () => () => Promise.reject(new Error("refused"))},
    {name: "a part that hangs", start: () => () => new Promise<void>(() => {})},
  ];
  const service = await OwnService.start({db}, moreParts);
  await assert.rejects(service.stop(3000), {
    name: "WorkError",
    message:
      "expected an end within 3000 ms; still open: a part that hangs; a part that fails failed to stop: refused",
  });
  await assert.rejects(fetch(service.url));
  await (await openEngine(db)).close();
});

test("parts that have started are stopped when a later one cannot start", async () => {
  const db = await folder.importChain("failed", 1, 1);
  const fail = {name: "a part", start: () => Promise.reject(new Error("refused"))};
  await assert.rejects(OwnService.start({db}, [fail]), /refused/);
  await (await openEngine(db)).close();
});

test("/metrics is on its own port, and on the port for all only if nobody else reaches that", async t => {
  const db = await folder.importChain("metrics", 1, 1);
  const statuses = async (url: string) =>
    Promise.all(["/metrics", "/healthz", "/readyz", "/"].map(async path => (await fetch(url + path)).status));
  for (const [options, own, operators] of [
    [{host: "127.0.0.1"}, [200, 200, 200, 200], undefined],
    [{host: "0.0.0.0"}, [404, 200, 200, 200], undefined],
    [{host: "0.0.0.0", metricsPort: 0}, [404, 200, 200, 200], [200, 200, 200, 404]],
    [{host: "127.0.0.1", metricsPort: 0}, [404, 200, 200, 200], [200, 200, 200, 404]],
  ] as const) {
    const service = await OwnService.start({db, ...options});
    try {
      const {url, metrics} = service.announcement;
      assert.deepEqual(await statuses(url), own);
      assert.equal(metrics === undefined, operators === undefined);
      if (metrics !== undefined) assert.deepEqual(await statuses(new URL(metrics).origin), operators);
    } finally {
      await service.stop();
    }
  }
  const taken = await OwnService.start({db});
  const port = Number(new URL(taken.url).port);
  t.after(() => taken.stop());
  const other = await folder.importChain("other", 1, 1);
  const started = OwnService.start({db: other, metricsPort: port});
  await assert.rejects(started, /--metrics-port: cannot listen on 127\.0\.0\.1:\d+: the address is in use/);
});
