/** The time that a request may take, and the time that does not count since its own reader takes it. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {DrivenDispatcher, FULL_PROOF, finish, settle} from "../../../support/http/drivenDispatcher.ts";

test("a request waits for its reader without cost and time only while nothing of it is under way", async () => {
  const timeoutMs = 1000;
  const driven = new DrivenDispatcher({timeoutMs});
  driven.proofPadding = 4.5e6;
  const sixProofs = Array.from({length: 6}, () => FULL_PROOF);
  const reply = driven.admit([driven.estimate, ...sixProofs]);
  reply.isBlocked = true;
  await settle();
  // The first proofs exceed the window behind the estimate, which is under way: the time goes on.
  driven.pass(timeoutMs / 2);
  assert.equal(driven.estimateCount, 1);
  assert.ok(driven.queuedCosts[0] > 0);
  driven.endEstimates();
  await settle();
  assert.ok(reply.unsentBytes > 4e6 && reply.unsentBytes < 16e6, `holds ${reply.unsentBytes} bytes`);
  assert.equal(reply.isFinished, false);
  assert.deepEqual(driven.queuedCosts, [0, 0], "a paused request leaves the queues");
  driven.pass(2 * timeoutMs); // time that does not count
  while (!reply.isFinished) {
    reply.drain();
    driven.pass(timeoutMs / 20); // time that counts, and the dispatcher looks at it
    reply.isBlocked = true;
    await settle();
  }
  assert.equal(reply.text.includes("error"), false);
  assert.deepEqual(driven.queuedCosts, [0, 0]);
  driven.close();
});

test("estimates that do not end are given up in time, in their places, and their late answers are ignored", async () => {
  const timeoutMs = 60;
  const driven = new DrivenDispatcher({timeoutMs});
  const {estimate} = driven;
  const reply = driven.admit([1, estimate, 1, ...Array.from({length: 5}, () => estimate)]);
  await settle();
  assert.equal(reply.text, "[<p0>,");
  driven.pass(timeoutMs);
  await finish(reply);
  const givenUp = (id: string) => `\\{"jsonrpc":"2.0","id":${id},"error":\\{"code":-32005,.*\\}\\}`;
  const expected = ["<p0>", givenUp("e0"), "<p1>", ...["e1", "e2", "e3", "e4", "e5"].map(givenUp)];
  assert.match(reply.text, new RegExp(`^\\[${expected.join(",")}\\]$`));
  assert.deepEqual(driven.queuedCosts, [0, 0]);
  const before = reply.text;
  driven.endEstimates();
  const next = driven.admit([estimate]);
  await settle();
  driven.endEstimates();
  await finish(next);
  assert.equal(next.text, "[<e0>]");
  assert.equal(reply.text, before);
  driven.close();
});
