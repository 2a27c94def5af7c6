/** Limits on a response, the queue, the time, a batch and its keys: what is refused, and as which error. */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import type {Limits} from "../../../server/limits.ts";
import {ACCOUNTS, CHAIN_ID, WorkFolder} from "../../support/chains/serviceChain.ts";
import type {Answer} from "../../support/http/jsonrpcAnswer.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {proofCall} from "../../support/http/wireRequests.ts";
import {QUEUED_COST} from "../../support/processes/daemon.ts";

const ACCOUNT = ACCOUNTS[0] as string;

describe("JSON-RPC limits", () => {
  let folder: WorkFolder;
  let db: string;

  before(async () => {
    folder = await WorkFolder.create();
    db = await folder.importChain("db", 1, 1);
  });

  after(() => folder.remove());

  async function withDaemon(
    limits: Partial<Limits>,
    use: (daemon: OwnService) => Promise<void>,
  ): Promise<void> {
    const daemon = await OwnService.start({db, limits});
    try {
      await use(daemon);
    } finally {
      await daemon.stop();
    }
  }

  const heavy = Array.from({length: 12}, (_, id) =>
    proofCall(
      id,
      ACCOUNT,
      Array.from({length: 500}, (_, at) => `0x${at.toString(16)}`),
    ),
  );

  test("a response that could be too large is refused before any work, under the call's own id", async () => {
    await withDaemon({responseBytes: 20_000}, async daemon => {
      assert.ok((await daemon.send(proofCall(1))).result !== undefined);
      const answer = await daemon.send(proofCall("mine", ACCOUNT, ["0x1"]));
      assert.equal(answer.id, "mine");
      assert.equal(answer.error.code, -32005);
      assert.equal(answer.error.data.limit, 20_000);
      assert.ok(answer.error.data.got > 20_000);
    });
  });

  test("a full queue turns new requests away with 503 and -32005, and takes them again later", async () => {
    await withDaemon({queueCost: 100}, async daemon => {
      let first: Promise<Answer[]>;
      let batch: {status: number; text: string};
      let free: Answer;
      let own: {status: number; text: string};
      // Until all that follows meets the first request at work.
      for (;;) {
        first = daemon.send(heavy); // larger than the queue, and admitted since it is empty
        batch = await daemon.post(JSON.stringify([proofCall(1)]));
        free = await daemon.call("chain_chainId");
        own = await daemon.post(JSON.stringify(proofCall("own")));
        if (batch.status !== 200 && own.status !== 200) break;
        await first;
      }
      const answer = JSON.parse(batch.text);
      assert.equal(batch.status, 503);
      assert.equal(answer.id, null);
      assert.equal(answer.error.code, -32005);
      assert.equal(answer.error.data.limit, 100);
      assert.ok(answer.error.data.got > 100);
      assert.deepEqual([own.status, JSON.parse(own.text).id], [503, "own"]);
      assert.equal(free.result, CHAIN_ID, "calls without cost need no queue");
      assert.ok((await first).every((one: Answer) => one.result !== undefined));
      assert.ok((await daemon.send(proofCall(1))).result !== undefined);
      assert.equal(await daemon.readMetric(QUEUED_COST), 0);
    });
  });

  test("calls that are not finished in time are -32005 with the limit, in their places", async () => {
    const keys = Array.from({length: 1000}, (_, at) => `0x${at.toString(16)}`);
    const slow = Array.from({length: 19}, (_, at) => proofCall(at + 1, ACCOUNT, keys));
    await withDaemon({timeoutMs: 150}, async daemon => {
      await daemon.send(proofCall(0));
      const batch = [proofCall(0), ...slow, {jsonrpc: "2.0", id: 20, method: "chain_chainId"}];
      const answers: Answer[] = await daemon.send(batch);
      assert.deepEqual(
        answers.map(answer => answer.id),
        Array.from({length: 21}, (_, id) => id),
      );
      assert.equal(answers.pop()?.result, CHAIN_ID);
      // One thread makes them in order: what is finished in time is at the beginning.
      const firstLate = answers.findIndex(answer => answer.error !== undefined);
      assert.notEqual(firstLate, -1);
      for (const {error} of answers.slice(firstLate)) {
        assert.equal(error?.code, -32005);
        const {limit, got} = (error as {data: {limit: number; got: number}}).data;
        assert.equal(limit, 150);
        assert.ok(got >= limit, `got ${got}`);
      }
    });
  });

  test("a body of 400 000 keys is -32005 with the limit and their number, without being parsed", async () => {
    await withDaemon({}, async daemon => {
      const keys = Array.from({length: 400_000}, (_, at) => `"${at}k":1`).join();
      for (const [body, got] of [
        [`{${keys}}`, 400_000],
        [`[{"jsonrpc":"2.0","id":1,"method":"chain_chainId","params":[{${keys}}]}]`, 400_006],
        [`{${keys}`, 400_000],
      ] as const) {
        const {status, text} = await daemon.post(body);
        const {id, error} = JSON.parse(text);
        assert.deepEqual([status, id, error.code, error.data], [200, null, -32005, {limit: 40_000, got}]);
        assert.match(error.message, /array elements and object fields/);
      }
      assert.equal(await daemon.readMetric('proofd_calls_total{method="unknown",code="-32005"}'), 3);
      const keyCount = 19;
      const words = Array.from({length: keyCount}, (_, at) => `0x${at.toString(16).padStart(64, "0")}`);
      const largest = Array.from({length: 1000}, (_, id) => proofCall(id, ACCOUNT, words));
      const {error} = await daemon.send(largest);
      assert.match(
        error.message,
        /^a response: expected at most/,
        "cost, members and batch are at their limits, not beyond",
      );
    });
  });

  test("a batch, keys and a cost beyond their limits are refused with the limit and what came", async () => {
    await withDaemon({batchCalls: 2, storageKeys: 1, requestCost: 3}, async daemon => {
      assert.deepEqual((await daemon.send([1, 2, 3])).error.data, {limit: 2, got: 3});
      assert.deepEqual((await daemon.send(proofCall(1, ACCOUNT, ["0x1", "0x2"]))).error.data, {
        limit: 1,
        got: 2,
      });
      const costly = await daemon.send([proofCall(1, ACCOUNT, ["0x1"]), proofCall(2, ACCOUNT, ["0x1"])]);
      assert.deepEqual(costly.error.data, {limit: 3, got: 4});
    });
  });
});
