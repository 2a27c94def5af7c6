/** Audits of blocks that were applied: what stays, and what is removed. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {toHex} from "../../../../../storage/hex.ts";
import type {Node} from "../../../../../sync/rpc/node.ts";
import {RangeAudit} from "../../../../../workers/import/node/rangeAudit.ts";
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
  return new RangeAudit(4, work => work(node), store.host);
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
