/** Audits of blocks that were applied: what stays, and what is removed. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {toHex} from "../../../../../storage/hex.ts";
import type {Node} from "../../../../../sync/rpc/node.ts";
import {RangeAudit} from "../../../../../workers/import/follow/rangeAudit.ts";
import {createBlock, hashOf, WrittenStore} from "../../../../support/stores/writtenStore.ts";

let store: WrittenStore;
beforeEach(async () => {
  store = await WrittenStore.create(10);
});
afterEach(() => store.close());

/** A node with block `block` of `branch`, whose account has this nonce. `onValues` is called when it is asked for values. */
function createAudit(
  block: number,
  branch: number,
  nonce: number,
  onValues = async (): Promise<void> => {},
  nowMs = (): number => 0,
): RangeAudit {
  const answers: Readonly<Record<string, unknown>> = {
    eth_getBalance: "0x1",
    eth_getTransactionCount: `0x${nonce.toString(16)}`,
    eth_getCode: "0x",
  };
  const node: Node = {
    name: "http://node",
    request: async () => ({hash: toHex(hashOf(block, branch))}),
    requestAll: async calls => {
      await onValues();
      return calls.map(({method}) => answers[method]);
    },
  };
  return new RangeAudit(4, work => work(node), store.host, nowMs);
}

async function apply(audit: RangeAudit, block: number, branch: number, parentBranch: number): Promise<void> {
  const difference = createBlock(block, branch, parentBranch);
  audit.note(difference);
  await store.apply(difference);
}

const latest = (): number | undefined => store.host.writer().latest;

test("a wrong block is removed that has the number of one that was sound before a reorganisation", async () => {
  const audit = createAudit(10, 2, 99);
  await store.rollback(9);
  await apply(audit, 10, 2, 1);
  await assert.rejects(audit.run(), {
    name: "AuditFailure",
    message: /nonce is 10 here, 99 at .*; block 10 was removed$/,
  });
  assert.equal(latest(), 9);
});

test("blocks since the audit before are removed, and no others", async () => {
  const audit = createAudit(12, 1, 12);
  await apply(audit, 11, 1, 1);
  await apply(audit, 12, 1, 1);
  await audit.run();
  const wrong = createAudit(13, 1, 99);
  await apply(wrong, 13, 1, 1);
  await assert.rejects(wrong.run(), {message: /block 13 was removed$/});
  assert.equal(latest(), 12);
});

test("a block that an order removes during its audit is no reason to stop", async () => {
  const audit = createAudit(11, 1, 99, () => store.rollback(8));
  await apply(audit, 11, 1, 1);
  await audit.run();
  assert.equal(latest(), 8);
});

test("a block is finalized only once it has passed its audit", async () => {
  const audit = createAudit(12, 1, 12);
  await apply(audit, 11, 1, 1);
  await apply(audit, 12, 1, 1);
  const writer = store.host.writer();
  writer.finalizeHeld(10);
  assert.throws(() => writer.finalizeHeld(11), {
    code: "NOT_AUDITED",
    message: "block 11 has not passed its audit yet: blocks up to 10 have",
  });
  // What a source calls final in advance waits too.
  writer.markFinalized(12);
  await writer.flush();
  assert.deepEqual([writer.finalizedTo, store.host.reader.readFinalized()], [10, 10]);
  await audit.run();
  assert.deepEqual([writer.finalizedTo, store.host.reader.readFinalized()], [12, 12]);
  writer.finalizeHeld(12);
});

test("blocks that were not audited when the import was killed are removed at the next start", async () => {
  const killed = createAudit(13, 1, 13);
  for (const block of [11, 12, 13]) await apply(killed, block, 1, 1);
  await store.reopen();
  const audit = createAudit(11, 1, 99);
  assert.equal(audit.isAwaited, true);
  await audit.dropUnaudited();
  assert.deepEqual([latest(), audit.isAwaited], [10, false]);
  await apply(audit, 11, 1, 1);
  await assert.rejects(audit.run(), {message: /nonce is 11 here, 99 .*; block 11 was removed$/});
});

test("an audit is due after 256 blocks, or once a block has waited for ten seconds", () => {
  let nowMs = 5;
  const audit = createAudit(10, 1, 10, undefined, () => nowMs);
  const block = createBlock(11, 1);
  nowMs = 20_000;
  assert.equal(audit.isDue, false);
  for (let count = 1; count <= 255; count++) audit.note(block);
  nowMs = 29_999;
  assert.equal(audit.isDue, false);
  nowMs = 30_000;
  assert.equal(audit.isDue, true);
  nowMs = 29_999;
  audit.note(block);
  assert.equal(audit.isDue, true);
});

test("while the node has another block nothing passes", async () => {
  const audit = createAudit(12, 2, 11);
  await apply(audit, 11, 1, 1);
  await audit.run();
  assert.equal(audit.isAwaited, true);
});

test("blocks of a source that needs no audit are finalized at once", async () => {
  await apply(createAudit(11, 1, 11), 11, 1, 1);
  store.host.writer().waiveAudits(false);
  await store.apply(createBlock(12, 1));
  assert.throws(() => store.host.writer().finalizeHeld(12), {code: "NOT_AUDITED"});
  store.host.writer().waiveAudits(true);
  store.host.writer().finalizeHeld(12);
});
