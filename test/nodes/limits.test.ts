/** A geth with small limits: few calls and bytes in a batch, few blocks in a range of logs, the newest states only. */
import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {type ReadPosition, RollupWatch} from "../../nodes/finality/rollupWatch.ts";
import type {Node} from "../../nodes/rpc/node.ts";
import {Nodes, type NodesEvent} from "../../nodes/rpc/nodes.ts";
import {RawBlocks} from "../../workers/import/follow/executeReader.ts";
import {EngineChain} from "../support/chains/engineChain.ts";
import {PEOPLE} from "../support/chains/people.ts";
import {parseGenesis} from "../support/evm/genesisText.ts";
import {readLog, waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {importHere} from "../support/stores/importedStore.ts";

/** geth keeps the states of the newest 128. */
const BLOCKS = 150;
/** From here on, traces need only states that geth has. */
const TRACED_FROM = BLOCKS - 100;
/** To execute more takes long. */
const FEW = 12;
const LOG_BLOCKS = 10;
const LIMITS = [
  ...["--gcmode", "full", "--rpc.rangelimit", `${LOG_BLOCKS}`],
  ...["--rpc.batch-request-limit", "7", "--rpc.batch-response-max-size", "2000"],
];
const DOWN = "the node does not answer as it should; it is tried again";

let chain: EngineChain;
let node: RealNode;
/** It has no limits, and no debug namespace. */
let plain: RealNode;
let flags: readonly string[];

before(async () => {
  // All of it under osaka.
  chain = await EngineChain.create({cancun: 1, prague: 1, osaka: 1});
  node = await chain.addNode(LIMITS);
  plain = await chain.addNode(["--http.api", "eth"]);
  for (let block = 1; block <= BLOCKS; block++) {
    const to = `0x${block.toString(16).padStart(40, "a")}`;
    await chain.seal({transactions: block % 3 === 0 ? [0, 1].map(from => ({from, to, value: 1n})) : []});
  }
  flags = ["--l2", node.url, "--genesis", chain.genesisPath];
});

after(() => chain?.stop());

async function importTo(db: string, block: number, ...more: readonly string[]): Promise<void> {
  const outcome = await importHere(["--db", db, ...flags, "--to", `${block}`, ...more]);
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
}

async function useGeth<Result>(
  work: (nodes: Nodes, events: readonly NodesEvent[]) => Promise<Result>,
): Promise<Result> {
  const events: NodesEvent[] = [];
  const settings = {urls: [node.url], headers: {}, timeoutMs: 30_000, maxAnswerBytes: 1 << 20};
  const nodes = new Nodes(settings, event => events.push(event));
  try {
    return await work(nodes, events);
  } finally {
    await nodes.close();
  }
}

test("batches become as small as geth takes them, by execute and by trace", async () => {
  const db = chain.file("batches.db");
  await importTo(db, TRACED_FROM, "--source", "execute");
  await withFollower(["--db", db, ...flags, "--source", "trace"], async daemon => {
    await waitForHash(daemon, BLOCKS, chain.hashOf(BLOCKS));
    assert.deepEqual(readLog(daemon, DOWN), []);
  });
});

test("without its debug namespace geth gives whole blocks for execution, and no traces", async () => {
  const of = (db: string) => ["--db", chain.file(db), "--genesis", chain.genesisPath, "--l2", plain.url];
  const outcome = await importHere([...of("untraced.db"), "--source", "trace"]);
  assert.ok(!outcome.ok);
  assert.match(
    outcome.message,
    /expected prestateTracer \(debug namespace\) .*debug_traceCall does not exist/,
  );
  await withFollower(of("plain.db"), async daemon => {
    await waitForHash(daemon, FEW, chain.hashOf(FEW));
    const [{method, why} = {}] = readLog(daemon, "how blocks are read from this node");
    assert.equal(method, "eth_getBlockByNumber");
    assert.match(String(why), /the method debug_getRawBlock does not exist/);
  });
});

test("a raw block above the head is no block", async () => {
  const {forks} = parseGenesis(await readFile(chain.genesisPath, "utf8"));
  const blocks = new RawBlocks(forks, () => {});
  const read = (from: number) => (one: Node) => blocks.read(one, from, BLOCKS + 2);
  const {signal} = new AbortController();
  await useGeth(async (nodes, events) => {
    assert.equal((await nodes.use(read(BLOCKS - 1), signal)).length, 2);
    assert.deepEqual(await nodes.use(read(BLOCKS + 1), signal), []);
    assert.deepEqual(
      events.map(({state}) => state),
      ["up"],
    );
  });
});

test("layer 1 is read in ranges of blocks that geth takes", async () => {
  const contract = Buffer.from((PEOPLE[0] as string).slice(2), "hex");
  await useGeth(async (nodes, events) => {
    const watch = new RollupWatch(nodes, {contract, from: 1, depth: 0});
    let mark: ReadPosition["mark"];
    let steps = 0;
    while (mark?.block !== BLOCKS) {
      const step = await watch.read({mark, last: undefined}, new AbortController().signal);
      assert.ok("mark" in step && step.mark.block > (mark?.block ?? 0));
      mark = step.mark;
      steps++;
    }
    assert.ok(steps >= BLOCKS / (LOG_BLOCKS + 1), `${steps} steps`);
    assert.deepEqual(
      events.map(({state}) => state),
      ["up"],
    );
  });
});
