import assert from "node:assert/strict";
import {test} from "node:test";
import type {HeldState} from "../../../../sync/layer2/audit.ts";
import {AuditFailure, auditRange} from "../../../../sync/layer2/auditRange.ts";
import {type Node, NodeFailure, NodeRefusal} from "../../../../sync/rpc/node.ts";

const HASH = new Uint8Array(32).fill(7);
const ADDRESS = new Uint8Array(20).fill(9);
const SLOT = new Uint8Array(32).fill(1);
const SUBJECTS = [{address: ADDRESS, slots: [SLOT]}];
const HELD: HeldState = {
  block: 5,
  blockHash: HASH,
  readAccount: () => ({nonce: 3n, balance: 10n, code: Uint8Array.of(0x60, 0x01)}),
  readSlot: () => 8n,
};
const RIGHT: Readonly<Record<string, unknown>> = {
  eth_getBlockByNumber: {hash: `0x${"07".repeat(32)}`},
  eth_getBalance: "0xa",
  eth_getTransactionCount: "0x3",
  eth_getCode: "0x6001",
  eth_getStorageAt: `0x${"8".padStart(64, "0")}`,
};

/** A node with these answers. An Error is thrown. */
function nodeWith(answers: Readonly<Record<string, unknown>>): Node {
  const request = async (method: string): Promise<unknown> => {
    const answer = {...RIGHT, ...answers}[method];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    name: "http://node:1",
    request,
    requestAll: calls => Promise.all(calls.map(({method}) => request(method))),
  };
}

function audit(answers: Readonly<Record<string, unknown>>): Promise<boolean> {
  return auditRange(work => work(nodeWith(answers)), HELD, SUBJECTS);
}

test("a range whose values are the node's passes, and so does one that touched nothing", async () => {
  assert.equal(await audit({}), true);
  assert.equal(await auditRange(() => assert.fail("the node is not asked"), HELD, []), true);
});

test("the first value that differs is named with block, account and both values", async () => {
  const account = `0x${"09".repeat(20)}`;
  for (const [answers, message] of [
    [{eth_getBalance: "0xb"}, "balance is 10 here, 11 at http://node:1"],
    [{eth_getTransactionCount: "0x0"}, "nonce is 3 here, 0 at http://node:1"],
    [{eth_getCode: "0x"}, "code is 0x6001 here, none at http://node:1"],
    [{eth_getStorageAt: "0x0"}, `slot 0x${"01".repeat(32)} is 0x8 here, 0x0 at http://node:1`],
  ] as const)
    await assert.rejects(audit(answers), {
      name: "AuditFailure",
      message: `the audit found a wrong value: block 5: account ${account}: ${message}`,
    });
});

test("long code is named by its length and the first byte that differs", async () => {
  await assert.rejects(audit({eth_getCode: `0x6001${"00".repeat(60)}`}), {
    message: new RegExp(`code is 0x6001 here, 62 bytes, 0x${"00".repeat(32)} from byte 2 on at `),
  });
});

test("a node that has another block meanwhile, or none, is no difference", async () => {
  for (const block of [{hash: `0x${"08".repeat(32)}`}, null])
    assert.equal(await audit({eth_getBlockByNumber: block, eth_getBalance: "0xb"}), false);
});

test("a node whose block goes away while its state is read refuses, and nothing is compared", async () => {
  const refusing = nodeWith({eth_getCode: new NodeRefusal("header not found", -32000)});
  let blocks = 0;
  const node: Node = {
    ...refusing,
    request: async (method, params) => (blocks++ === 0 ? refusing.request(method, params) : null),
  };
  assert.equal(await auditRange(work => work(node), HELD, SUBJECTS), false);
  assert.equal(blocks, 2);
});

test("a node that refuses stops the audit with a hint; a node that fails is tried again by its caller", async () => {
  await assert.rejects(
    audit({eth_getBalance: new NodeRefusal("missing trie node", -32000)}),
    (error: Error) => {
      assert.ok(error instanceof AuditFailure);
      assert.match(error.message, /^block 5 cannot be audited: missing trie node\. .*--audit 0/);
      return true;
    },
  );
  await assert.rejects(audit({eth_getBalance: "zz"}), NodeFailure);
});
