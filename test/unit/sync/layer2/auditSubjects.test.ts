import assert from "node:assert/strict";
import {test} from "node:test";
import {findBlockSubjects} from "../../../../sync/layer2/auditSubjects.ts";
import {type Node, NodeRefusal} from "../../../../sync/rpc/node.ts";

const MINER = `0x${"aa".repeat(20)}`;
const BLOCK = {miner: MINER, transactions: []};

/** A node with these answers. It refuses other methods. */
function nodeWith(answers: Readonly<Record<string, unknown>>): Node {
  return {
    name: "http://node",
    async request(method) {
      if (method in answers) return answers[method];
      throw new NodeRefusal(`http://node refuses ${method}: not there (-32601)`, -32601);
    },
    requestAll: async () => [],
  };
}

test("a node that traces with another tracer than it was asked for gives the accounts of the block and its receipts", async () => {
  const structLogs = {gas: 21_000, structLogs: []};
  const answers = {eth_getBlockByNumber: BLOCK, eth_getBlockReceipts: [], debug_traceCall: structLogs};
  const {subjects, refused} = await findBlockSubjects(
    nodeWith({...answers, debug_traceBlockByNumber: [{result: structLogs}]}),
    5,
  );
  assert.deepEqual(subjects, [{address: Buffer.from(MINER.slice(2), "hex"), slots: []}]);
  assert.deepEqual(refused, [
    "traces: the node cannot trace blocks: expected prestateTracer (debug namespace) or stateDiff (trace namespace): " +
      "the answer is of another tracer; http://node refuses trace_call: not there (-32601)",
  ]);
});

test("slots come from a node's stateDiff too", async () => {
  const slot = `0x${"1".padStart(64, "0")}`;
  const stateDiff = {[MINER]: {balance: "=", storage: {[slot]: {"+": slot}}}};
  const {subjects, refused} = await findBlockSubjects(
    nodeWith({
      ...{eth_getBlockByNumber: BLOCK, trace_call: {stateDiff: {}}},
      trace_replayBlockTransactions: [{stateDiff}],
    }),
    5,
  );
  assert.deepEqual(subjects[0]?.slots, [Buffer.from(slot.slice(2), "hex")]);
  assert.deepEqual(refused, ["http://node refuses eth_getBlockReceipts: not there (-32601)"]);
});

test("a node that does not have the block gives nothing", async () => {
  assert.deepEqual(await findBlockSubjects(nodeWith({eth_getBlockByNumber: null}), 5), {
    subjects: [],
    refused: [],
  });
});
