/** Blocks read as anvil's traces against the same blocks executed here: accounts, state roots, roots of stores. */
import assert from "node:assert/strict";
import {mkdtemp} from "node:fs/promises";
import {join} from "node:path";
import {after, before, type TestContext, test} from "node:test";
import {recoverAuthority} from "../../../../evm/execution/run/authorizations.ts";
import {probeTraces, type TraceMethod} from "../../../../nodes/blocks/trace/traceMethod.ts";
import {TraceReader} from "../../../../nodes/blocks/trace/traceReader.ts";
import {type Node, NodeRefusal} from "../../../../nodes/rpc/node.ts";
import {Nodes, type NodesEvent} from "../../../../nodes/rpc/nodes.ts";
import {AnvilChain} from "../../../support/chains/anvilChain.ts";
import {callNode, withoutPrestate} from "../../../support/chains/httpNode.ts";
import {DELEGATION_TRAFFIC, STATE_TRAFFIC} from "../../../support/chains/stateTraffic.ts";
import {ForwardingProxy} from "../../../support/http/forwardingProxy.ts";
import {notRun} from "../../../support/processes/notRun.ts";
import {sampleOf} from "../../../support/soak.ts";
import {ComparedStores} from "../../../support/stores/comparedStores.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const TRAFFIC: readonly (readonly [fork: string, method: TraceMethod])[] = [
  ["prague", "prestate"],
  ["cancun", "prestate"],
  ["london", "prestate"],
  ["london", "stateDiff"],
  ["cancun", "stateDiff"],
  ["prague", "stateDiff"],
];
for (const [fork, method] of sampleOf(TRAFFIC, 3))
  test(`blocks of ${fork} read as ${method} traces give the roots of the executed blocks`, t =>
    compareTraffic(t, fork, method));

test("blocks whose traces are read again as all that transactions touched give these roots too", t =>
  compareTraffic(t, "cancun", "prestate", true));

let shared: AnvilChain | string;
const folder = makeTemporaryFolder();

before(async () => {
  shared = await AnvilChain.start(folder, "prague");
  if (typeof shared === "string") return;
  for (const [, transactions] of STATE_TRAFFIC.slice(0, 3)) await shared.mine(transactions);
});

after(async () => {
  if (typeof shared !== "string") await shared.anvil.stop();
});

/** On a chain of three blocks. */
function sharedTest(title: string, body: (anvil: AnvilChain["anvil"]) => Promise<void>): void {
  test(title, async t => {
    if (typeof shared === "string") notRun(t, shared);
    else await body(shared.anvil);
  });
}

sharedTest("a block is not read again from a node that has stateDiff only", async ({url}) => {
  assert.equal(await probeTraces(callNode(url)), "prestate");
  const node = withoutPrestate(callNode(url));
  assert.equal(await probeTraces(node), "stateDiff");
  assert.equal(await createReader().reread(node, 1), undefined);
});

sharedTest(
  "a node that contradicts itself is refused by name, and nothing of the range is returned",
  async ({url}) => {
    const other = `0x${"ab".repeat(32)}`;
    const trace = "debug_traceBlockByNumber";
    const faults: readonly (readonly [
      method: string,
      spoil: (answer: unknown) => unknown,
      message: RegExp,
    ])[] = [
      [trace, () => [], /^block 1: expected 3 traces, one per transaction, got 0$/],
      [
        trace,
        answer => (answer as object[]).map(entry => ({...entry, txHash: other})),
        /^block 1: trace 0: expected transaction 0x.*, got 0xabab/,
      ],
      ["eth_getBalance", () => "12", /account 0x[0-9a-f]{40}: balance: expected a quantity.*, got "12"/],
      ["eth_getTransactionCount", () => undefined, /nonce: expected .*, got nothing/],
      ["eth_getStorageAt", () => `0x${"00".repeat(33)}`, /slot 0x[0-9a-f]{64}: expected a word/],
      [
        "eth_getBlockByNumber",
        answer => ({...(answer as object), gasUsed: "0x1"}),
        /^block 1: the node says that its hash/,
      ],
    ];
    for (const [method, spoil, message] of faults) {
      const node = spoilNode(url, method, spoil);
      await assert.rejects(createReader().read(node, 1, 3), {
        name: "NodeFailure",
        message,
      });
    }
  },
);

sharedTest("a node that refuses a state is told with the blocks, and with what helps", async ({url}) => {
  const hint =
    ". A node that is no archive node has the states of its newest blocks only; --source execute needs none";
  // As geth 1.17 says them: path scheme, hash scheme, and a transaction that takes too long.
  const refusals: readonly (readonly [method: string, message: string, hint: string])[] = [
    ["eth_getCode", `historical state ${"ab".repeat(32)} is not available`, hint],
    ["debug_traceBlockByNumber", "required historical state unavailable (reexec=128)", hint],
    ["debug_traceBlockByNumber", "execution timeout", ""],
  ];
  for (const [method, message, told] of refusals) {
    const node = spoilNode(url, method, () => {
      throw new NodeRefusal(message, -32000);
    });
    await assert.rejects(createReader().read(node, 1, 5), {
      name: "NodeRefusal",
      code: -32000,
      message: `blocks 1 to 3: ${message}${told}`,
    });
  }
});

sharedTest(
  "blocks are read from a provider that refuses batches of four calls, and it is not down",
  async ({url}) => {
    const read = (node: Node) => createReader().read(node, 1, 3);
    const expected = await read(callNode(url));
    const proxy = await ForwardingProxy.to(url);
    for (const refuse of [
      async () => ({status: 500, type: "text/plain", body: Buffer.from("batch too large")}),
      async () => ({status: 429, type: "text/plain", body: Buffer.of()}),
      async () => undefined,
    ]) {
      proxy.change = ({call}, forward) => ([call].flat().length > 3 ? refuse() : forward());
      const events: NodesEvent[] = [];
      const settings = {urls: [proxy.url.href], headers: {}, timeoutMs: 3_600_000, maxAnswerBytes: 1 << 24};
      const nodes = new Nodes(settings, event => events.push(event));
      const blocks = await nodes.use(read, new AbortController().signal);
      assert.deepEqual(
        blocks.map(({hash, bytes}) => [hash, bytes]),
        expected.map(({hash, bytes}) => [hash, bytes]),
      );
      assert.deepEqual(
        events.map(({state}) => state),
        ["up"],
      );
      await nodes.close();
    }
    await proxy.stop();
  },
);

sharedTest("a block that is replaced while it is read is refused", async anvil => {
  let isReplaced = false;
  const node = spoilNode(anvil.url, "debug_traceBlockByNumber", async answer => {
    if (!isReplaced) await anvil.request("anvil_reorg", 1, []);
    isReplaced = true;
    return answer;
  });
  const reader = createReader();
  await assert.rejects(reader.read(node, 3, 3), {
    name: "NodeFailure",
    message: /^block 3 was replaced while it was read/,
  });
  const [block] = await reader.read(node, 3, 3);
  assert.equal(block?.number, 3);
});

function createReader(): TraceReader {
  return new TraceReader(
    recoverAuthority,
    () => false,
    () => {},
  );
}

/** A real node whose answers to one method are changed on the way. */
function spoilNode(url: string, method: string, spoil: (answer: unknown) => unknown): Node {
  const node = callNode(url);
  const requestAll: Node["requestAll"] = async calls => {
    const answers = await node.requestAll(calls);
    return Promise.all(answers.map((answer, at) => (calls[at]?.method === method ? spoil(answer) : answer)));
  };
  return {
    name: node.name,
    requestAll,
    request: async (asked, params) => (await requestAll([{method: asked, params}]))[0],
  };
}

/** @param isReread - as if the first traces had not given the state roots */
async function compareTraffic(
  t: TestContext,
  fork: string,
  method: TraceMethod,
  isReread = false,
): Promise<void> {
  const own = await mkdtemp(join(folder, "chain-"));
  const chain = await AnvilChain.start(own, fork);
  if (typeof chain === "string") return notRun(t, chain);
  t.after(() => chain.anvil.stop());
  const stores = await ComparedStores.create(own);
  t.after(() => stores.close());
  const anvil = callNode(chain.anvil.url);
  const node = method === "prestate" ? anvil : withoutPrestate(anvil);
  const reader = createReader();
  await stores.apply(chain.block0, chain.block0);
  let number = 0;
  for (const [title, transactions] of [...STATE_TRAFFIC, ...(fork === "prague" ? DELEGATION_TRAFFIC : [])]) {
    const {executed} = await chain.mine(transactions);
    const [first, ...others] = await reader.read(node, ++number, number);
    const block = isReread ? await reader.reread(node, number) : first;
    assert.ok(block);
    assert.equal(others.length, 0);
    try {
      await stores.apply(executed, await block.difference());
    } catch (error) {
      throw new Error(`block ${number}: ${title}`, {cause: error});
    }
  }
  assert.deepEqual(await reader.read(node, number + 1, number + 2), []);
}
