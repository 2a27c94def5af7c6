import assert from "node:assert/strict";
import {test} from "node:test";
import {Worker} from "node:worker_threads";
import fc from "fast-check";
import {JobMailbox, JobPlace, refuseJob} from "../../../../workers/messages/jobMailbox.ts";

/** Wakes the thread many times, then puts a job. */
const WAKER = `
  import {workerData} from "node:worker_threads";
  import {setImmediate as turn} from "node:timers/promises";
  const {JobMailbox} = await import(workerData.module);
  const mailbox = new JobMailbox(workerData.shared);
  const numbers = new Int32Array(workerData.shared, 0, 1);
  for (let woken = 0; woken < 3; await turn()) woken += Atomics.notify(numbers, 0);
  mailbox.put({calls: Buffer.from("late"), ids: ["2"]}, 7);
`;

test("a thread that is woken without a job goes on waiting for one", async () => {
  const mailbox = new JobMailbox();
  const workerData = {
    shared: mailbox.shared,
    module: new URL("../../../../workers/messages/jobMailbox.js", import.meta.url).href,
  };
  const source = new URL(`data:text/javascript,${encodeURIComponent(WAKER)}`);
  const waker = new Worker(source, {workerData});
  const {ids, memory, calls} = mailbox.take() ?? {};
  await waker.terminate();
  assert.deepEqual([ids, memory, Buffer.from(calls ?? []).toString()], [["2"], 7, "late"]);
});

test("jobs come out of their places as they were put, and the ends of one stay while the next is done", () => {
  const jobs = fc.array(
    fc.record({
      calls: fc.uint8Array({maxLength: 300}),
      ids: fc.array(fc.json({maxDepth: 0}), {maxLength: 20}),
      isLong: fc.boolean(),
      memory: fc.option(fc.nat(20), {nil: undefined}),
    }),
  );
  fc.assert(
    fc.property(jobs, list => {
      const mailbox = new JobMailbox();
      const thread = new JobMailbox(mailbox.shared);
      const before: [Uint32Array?, Uint32Array?] = [];
      for (const [at, {memory, ...put}] of list.entries()) {
        const {calls, ids, isLong} = put;
        const place = isLong ? JobPlace.LONG : JobPlace.SHORT;
        const ends = mailbox.put(put, memory);
        assert.equal(thread.hasShort(), !isLong);
        const job = thread.take();
        assert.equal(thread.hasShort(), false);
        assert.ok(job !== undefined && Buffer.from(job.calls).equals(calls));
        assert.deepEqual([job.ids, job.memory, job.place], [ids, memory, place]);
        const last = before[place]?.[0];
        job.ends.fill(at + 1);
        assert.deepEqual([ends[0], before[place]?.[0]], [at + 1, last]);
        before[place] = ends;
      }
      mailbox.stop();
      assert.equal(thread.take(), undefined);
    }),
  );
});

test("a short job is taken before a long one, and also while the thread has a long one", () => {
  const mailbox = new JobMailbox();
  const thread = new JobMailbox(mailbox.shared);
  const put = (name: string, isLong: boolean) =>
    mailbox.put({calls: Buffer.from(name), ids: ["1"], isLong}, undefined);
  const take = () => Buffer.from(thread.take()?.calls ?? []).toString();
  put("long", true);
  put("short", false);
  assert.deepEqual([take(), take()], ["short", "long"]);
  put("in a break", false);
  assert.deepEqual([thread.hasShort(), take(), thread.hasShort()], [true, "in a break", false]);
});

test("a job that is too large is refused", () => {
  const ids = Array.from({length: 1025}, () => "1");
  assert.equal(refuseJob({calls: new Uint8Array(61), ids: ids.slice(1)}), undefined);
  assert.match(String(refuseJob({calls: new Uint8Array(61), ids})), /expected at most 1024 calls, got 1025/);
  const large = {calls: new Uint8Array((1 << 20) - 4), ids: ["1"]};
  assert.equal(refuseJob(large), undefined);
  assert.match(
    String(refuseJob({...large, ids: ["12"]})),
    /expected at most 1048576 bytes, got up to 1048579/,
  );
});
