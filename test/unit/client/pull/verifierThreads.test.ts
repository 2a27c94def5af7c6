/** Threads that verify answers: what they give back is what this thread would have said. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {Worker} from "node:worker_threads";
import {sha256Suite} from "../../../../client/hash/hashSuites.ts";
import {verifyLeaves} from "../../../../client/leaves/leafRange.ts";
import {VerifierThreads} from "../../../../client/pull/verifierThreads.ts";
import type {DifferenceLine} from "../../../support/chains/differenceLine.ts";
import {complaintOf} from "../../../support/reference/forgeries.ts";
import {joinRange, keysOf, rangeParts} from "../../../support/reference/rangeBytes.ts";
import {ReferenceState} from "../../../support/reference/referenceState.ts";
import {once, waitUntil} from "../../../support/wait.ts";

const OWNER = `0x${"0".repeat(38)}07`;
const LINE: DifferenceLine = {
  number: "0x0",
  hash: `0x${"12".repeat(32)}`,
  accounts: Object.fromEntries(
    Array.from({length: 120}, (_, i) => {
      const address = `0x${(i + 1).toString(16).padStart(40, "0")}`;
      const storage = Object.fromEntries(
        Array.from({length: 120}, (_, slot) => [`0x${slot}${"0".repeat(60)}`, `0x${slot + 1}`]),
      );
      return [address, address === OWNER ? {balance: "0x5", storage} : {nonce: `0x${i.toString(16)}`}];
    }),
  ),
};
const state = new ReferenceState(sha256Suite, [LINE]);
const root = state.stateRoot(0);

/** The answer for a tree's positions from 2 on, in memory of its own, and its request. */
function answerOf(tree: string): {
  readonly request: {tree: string; from: number; count: number};
  bytes: Uint8Array;
} {
  const address = tree === "accounts" ? undefined : tree;
  const parts = rangeParts(state, {number: 0, hash: LINE.hash}, address, 2, 100, keysOf(sha256Suite, [LINE]));
  return {request: {tree, from: 2, count: 100}, bytes: new Uint8Array(joinRange(parts))};
}

test("a thread gives back what this thread would have said of accounts and slots, refuses with the same words, and goes on, also after an answer that cannot be sent to it", async () => {
  const started: Worker[] = [];
  const onWorker = (worker: Worker) => void started.push(worker);
  process.on("worker", onWorker);
  const threads = new VerifierThreads(1, 1);
  /** @returns undefined if this thread has done it: then the bytes are still here */
  const verify = async (tree: string, change: (bytes: Uint8Array) => void = () => {}) => {
    const {request, bytes} = answerOf(tree);
    change(bytes);
    const verified = threads.verify(sha256Suite, async () => root, request, bytes);
    // It goes to the thread at the next tick, if at all.
    await Promise.resolve();
    if (bytes.length === 0) return verified;
    await verified;
    return undefined;
  };
  try {
    // The first answers are verified here, until the thread is ready.
    await waitUntil("a thread that is ready", async () => (await verify("accounts")) !== undefined);
    assert.equal(started.length, 1);
    const flip = (bytes: Uint8Array) => bytes.set([(bytes.at(-1) as number) ^ 1], bytes.length - 1);
    const {request, bytes} = answerOf("accounts");
    flip(bytes);
    const refusal = complaintOf(() => verifyLeaves(sha256Suite, root, request, bytes));
    await assert.rejects(verify("accounts", flip), {name: "ProofError", message: refusal});
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const refused = threads.verify(sha256Suite, async () => root, request, shared);
    // The name differs between versions of Node.
    await assert.rejects(refused, {name: /^(TypeError|DataCloneError)$/});
    for (const tree of ["accounts", OWNER]) {
      const {request, bytes} = answerOf(tree);
      const expected = {...verifyLeaves(sha256Suite, root, request, bytes), proof: bytes};
      assert.deepEqual(await verify(tree), expected);
    }
  } finally {
    process.off("worker", onWorker);
    const exits = started.map(worker => once(worker, "exit"));
    await threads.close();
    await Promise.all(exits);
  }
});

test("the root is asked for until it is there, and once then", async () => {
  const threads = new VerifierThreads(0, 1);
  let asked = 0;
  const rootOf = async () => {
    asked++;
    if (asked < 3) throw new Error(`no root, ${asked}`);
    return root;
  };
  const {request, bytes} = answerOf("accounts");
  const verify = () => threads.verify(sha256Suite, rootOf, request, bytes);
  await assert.rejects(verify(), /no root, 1/);
  await assert.rejects(verify(), /no root, 2/);
  for (let i = 0; i < 3; i++) await verify();
  assert.equal(asked, 3);
});
