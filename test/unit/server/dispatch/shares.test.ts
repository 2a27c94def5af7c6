/** A large multiproof in the dispatcher: the order of its shares, its window, and what becomes of it when one fails. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, describe, test} from "node:test";
import {ProofForm} from "../../../../workers/job/packedCall.ts";
import type {CollectedReply} from "../../../support/http/collectedReply.ts";
import {DrivenDispatcher, finish, PROOF_BYTES, settle} from "../../../support/http/drivenDispatcher.ts";

/** Accounts of a call that is made in three shares of each stage. */
const THREE_SHARES = 1500;
const PRUNED = {failure: "BLOCK_PRUNED", detail: "pruned", block: 1} as const;

describe("a multiproof in shares", () => {
  let driven: DrivenDispatcher;

  beforeEach(() => {
    driven = new DrivenDispatcher({queueCost: 10_000, timeoutMs: 5000});
  });

  afterEach(() => driven.close());

  /** The shares that run, without taking them. */
  function running(): string[] {
    return driven.shares.map(({stage, index}) => `${stage} ${index}`);
  }

  /** Ends every running share until the reply has the text, or there is none. */
  async function endAll(text = (index: number) => `w${index},`): Promise<void> {
    for (await settle(); driven.shares.length > 0; await settle())
      for (const {stage, index, end} of driven.shares.splice(0)) end(stage === "locate" ? "" : text(index));
  }

  async function locateAll(): Promise<void> {
    await settle();
    while (driven.shares[0]?.stage === "locate") {
      driven.shares.shift()?.end("");
      await settle();
    }
  }

  test("all keys are located before the first share writes, and the others write after it, in any order", async () => {
    const reply = driven.admitMulti(THREE_SHARES);
    await settle();
    assert.deepEqual(driven.queuedCosts, [THREE_SHARES, 0]);
    assert.deepEqual(running(), ["locate 0", "locate 1"], "as many as the lane runs");
    driven.shares.splice(1, 1)[0]?.end("");
    await settle();
    assert.deepEqual(running(), ["locate 0", "locate 2"]);
    driven.shares.splice(1, 1)[0]?.end("");
    await settle();
    assert.deepEqual(running(), ["locate 0"]);
    driven.shares.shift()?.end("");
    await settle();
    assert.deepEqual(running(), ["write 0"]);
    driven.shares.shift()?.end("a");
    await settle();
    assert.deepEqual(running(), ["write 1", "write 2"]);
    driven.shares.pop()?.end("c,");
    await settle();
    assert.equal(reply.text, "a");
    driven.shares.pop()?.end("b");
    await finish(reply);
    assert.equal(reply.text, "abc");
    assert.deepEqual(driven.counts, [["chain_getMultiProof", 0, 1]]);
    assert.deepEqual(driven.queuedCosts, [0, 0]);
    assert.equal(driven.memoriesInUse, 0);
  });

  test("a call for 512 accounts is one task", async () => {
    driven.admitMulti(512);
    await settle();
    assert.deepEqual(running(), []);
  });

  test("other requests have their turns between shares", async () => {
    const large = driven.admitMulti(THREE_SHARES);
    await settle();
    const small = driven.admit([1]);
    for (const {end} of driven.shares.splice(0)) end("");
    await finish(small);
    assert.equal(small.text, "[<p0>]");
    await endAll();
    assert.equal(large.text, "w0,w1,w2");
  });

  test("while the reader takes nothing, no share starts beyond its window, and the clock stands still", async () => {
    const reply = driven.admitMulti(40 * 512);
    await locateAll();
    const text = " ".repeat(256 * PROOF_BYTES);
    driven.shares.shift()?.end(text);
    await settle();
    assert.deepEqual(running(), ["write 1", "write 2"]);
    reply.isBlocked = true;
    await endAll(() => text);
    // The lane's window is 4 MiB.
    const held = reply.unsentBytes;
    assert.ok(held > 3 * 2 ** 20 && held <= 4 * 2 ** 20, `${held} bytes`);
    assert.deepEqual(driven.queuedCosts, [0, 0], "what waits for its reader is not queued");
    driven.pass(60_000);
    assert.equal(reply.isFinished, false);
    while (!reply.isFinished) {
      reply.drain();
      reply.isBlocked = true;
      await endAll(() => text);
    }
    assert.equal(reply.text.length, 40 * text.length - 1);
    assert.deepEqual(driven.counts, [["chain_getMultiProof", 0, 1]]);
  });

  test("a client that goes away ends the call, and running shares are forgotten", async () => {
    const reply = driven.admitMulti(THREE_SHARES);
    await locateAll();
    driven.shares.shift()?.end("a");
    await settle();
    assert.deepEqual(running(), ["write 1", "write 2"]);
    driven.shares.pop()?.end("c,");
    await settle();
    reply.onAborted?.();
    await endAll();
    assert.equal(reply.text, "a");
    assert.deepEqual(driven.queuedCosts, [0, 0]);
    assert.deepEqual(driven.counts, []);
    assert.equal(driven.memoriesInUse, 0);
  });

  const failures: [string, number, (driven: DrivenDispatcher) => void][] = [
    ["a share fails", -32001, ({shares}) => shares.shift()?.fail(PRUNED)],
    ["its thread dies", -32603, ({shares}) => shares.shift()?.die(new Error("a thread died"))],
    ["its time is over", -32005, one => one.pass(5100)],
  ];
  for (const [what, code, fail] of failures) {
    for (const stage of ["locate", "write"] as const) {
      test(`if ${what} before a byte is sent (${stage}), the answer is the error as JSON`, async () => {
        const reply = driven.admitMulti(THREE_SHARES, ProofForm.MULTI_BYTES);
        await begin(stage);
        fail(driven);
        await finish(reply);
        assertError(reply, code);
        await endAll();
        assertError(reply, code);
      });
    }

    test(`if ${what} after bytes were sent, the connection is closed`, async () => {
      const reply = driven.admitMulti(THREE_SHARES);
      await begin("write");
      reply.isSent = true;
      fail(driven);
      await settle();
      assert.equal(reply.isClosed, true);
      await endAll();
      assert.equal(reply.text, "a");
      assert.equal(reply.isFinished, false);
      assertOver(code);
    });
  }

  /** Until the first locate share runs, or until the first write share is pushed and a later one waits aside. */
  async function begin(stage: "locate" | "write"): Promise<void> {
    await settle();
    if (stage === "locate") return;
    await locateAll();
    driven.shares.shift()?.end("a");
    await settle();
    driven.shares.pop()?.end("c,");
    await settle();
  }

  function assertError(reply: CollectedReply, code: number): void {
    const {id, error} = JSON.parse(reply.text) as {id: number; error: {code: number}};
    assert.deepEqual([id, error.code], [7, code]);
    assert.equal(reply.isBytes, false);
    assertOver(code);
  }

  function assertOver(code: number): void {
    assert.deepEqual(driven.counts, [["chain_getMultiProof", code, 1]]);
  }
});
