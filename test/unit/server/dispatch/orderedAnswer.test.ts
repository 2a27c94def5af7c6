/** Answers that wait for an earlier one of their request: how many may, and the memory that they keep. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {PROOF_SEGMENT_COST} from "../../../../server/methods/proof/proofCalls.ts";
import {
  DrivenDispatcher,
  ESTIMATE_TASKS,
  FULL_PROOF,
  finish,
  MEMORY_BYTES,
  PROOF_BYTES,
  settle,
} from "../../../support/http/drivenDispatcher.ts";

test("proofs that wait aside leave the estimates of their batch room to be made side by side", async () => {
  const driven = new DrivenDispatcher();
  const proofBytes = PROOF_SEGMENT_COST * PROOF_BYTES;
  driven.proofPadding = proofBytes - 10;
  const pairs = 120;
  const reply = driven.admit(Array.from({length: pairs}, () => [driven.estimate, FULL_PROOF]).flat());
  await settle();
  assert.equal(driven.estimateCount, ESTIMATE_TASKS);
  const [queuedProofCost] = driven.queuedCosts;
  const asideBytes = (pairs - queuedProofCost / PROOF_SEGMENT_COST) * proofBytes;
  assert.ok(asideBytes > 4e6 && asideBytes < 4.3e6, `${asideBytes} bytes wait aside`);
  let left = pairs;
  while (!reply.isFinished) {
    const {estimateCount} = driven;
    if (left > ESTIMATE_TASKS) assert.equal(estimateCount, ESTIMATE_TASKS, `${left} are left`);
    left -= estimateCount;
    driven.endEstimates();
    await settle();
  }
  const ids = [...reply.text.matchAll(/<(.\d+)>/g)].map(match => match[1]);
  assert.deepEqual(ids, Array.from({length: pairs}, (_, at) => [`e${at}`, `p${at}`]).flat());
  driven.close();
});

test("proofs that wait for an estimate keep their memory, and give it back when they are sent or not wanted", async () => {
  const driven = new DrivenDispatcher();
  driven.proofPadding = MEMORY_BYTES / 2;
  const sent = driven.admit([driven.estimate, FULL_PROOF, FULL_PROOF]);
  const gone = driven.admit([driven.estimate, FULL_PROOF, FULL_PROOF, FULL_PROOF]);
  await settle();
  assert.equal(driven.memoriesInUse, 5);
  gone.onAborted?.();
  assert.equal(driven.memoriesInUse, 2);
  driven.endEstimates();
  await finish(sent);
  assert.equal(sent.text.replaceAll(" ", ""), "[<e0>,<p0>,<p1>]");
  assert.equal(driven.memoriesInUse, 0);
  driven.close();
});

test("proofs that wait for an estimate and are a small part of a task's text keep none of its memory", async () => {
  const driven = new DrivenDispatcher();
  const small = driven.admit([driven.estimate, 1]);
  const large = driven.admit(Array.from({length: 60}, () => 0));
  await finish(large);
  assert.equal(driven.tasksInMemory, 1, "they shared a task");
  assert.equal(driven.memoriesInUse, 0);
  driven.endEstimates();
  await finish(small);
  assert.equal(small.text, "[<e0>,<p0>]");
  driven.close();
});

test("proofs that come too late give their memory back", async () => {
  const timeoutMs = 60;
  const driven = new DrivenDispatcher({timeoutMs});
  driven.holdProofs();
  const gone = driven.admit([1, 1]);
  const late = driven.admit([1, FULL_PROOF]);
  await settle();
  gone.onAborted?.();
  driven.pass(timeoutMs);
  await finish(late);
  driven.releaseProofs();
  await settle();
  assert.equal(gone.text, "");
  assert.ok(driven.tasksInMemory > 0);
  assert.equal(driven.memoriesInUse, 0);
  driven.close();
});
