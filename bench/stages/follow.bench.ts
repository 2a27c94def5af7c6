/**
 * Following a live chain: catching up with a real node by each source, and how soon a block and its finality show in proofs.
 * It needs no store of the bench, and anvil.
 */
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {ANVIL_ACCOUNTS} from "../../demo/anvilState.ts";
import {measureArrival, summarize} from "../follow/arrival.ts";
import {type FollowFigure, measureCatchUp} from "../follow/catchUp.ts";
import {ChainNode} from "../follow/chainNode.ts";
import {ROLLUP, RollupNode} from "../follow/rollupNode.ts";
import {type ServerProcess, startProofd} from "../served/serverProcess.ts";

/** The node's chain when proofd starts to catch up. */
const BLOCKS = 60;
const SOURCES = ["execute", "trace"];
const ARRIVALS = 50;
const FINALIZATIONS = 10;
const ACCOUNT = ANVIL_ACCOUNTS[0] as string;

export async function* measureFollowing(suite: string): AsyncGenerator<FollowFigure, undefined> {
  const node = await ChainNode.start();
  if (node === undefined) throw new Error("the stage `follow` needs anvil, which is not installed here");
  try {
    for (let block = 0; block < BLOCKS; block++) await node.mine();
    for (const source of SOURCES) yield* await measureCatchUp(node, source, suite, BLOCKS);
    yield* await measureBlocks(node, suite);
    yield* await measureFinality(node, suite);
  } finally {
    await node.stop();
  }
}

/** Every block is finalized as it comes, so its proof can be served at once. */
async function measureBlocks(node: ChainNode, suite: string): Promise<FollowFigure[]> {
  return await withProofd(node, suite, ["--finalized", "last"], async proofd => {
    const times: number[] = [];
    for (let i = 0; i < ARRIVALS; i++) {
      const next = Number(await node.server.call("eth_blockNumber")) + 1;
      times.push(await measureArrival(proofd, ACCOUNT, next, async () => void (await node.mine())));
    }
    return summarize("from a block of the node to its proof", times);
  });
}

async function measureFinality(node: ChainNode, suite: string): Promise<FollowFigure[]> {
  const rollup = await RollupNode.start();
  if (rollup === undefined) throw new Error("the stage `follow` needs anvil, which is not installed here");
  try {
    const flags = ["--l1", rollup.server.url.href, "--rollup", ROLLUP, "--l1-depth", "0"];
    return await withProofd(node, suite, flags, async proofd => {
      const times: number[] = [];
      let last = 0;
      for (let i = 0; i < FINALIZATIONS; i++) {
        const end = await node.mine();
        const quantity = `0x${end.toString(16)}`;
        await waitUntilHeld(proofd, end);
        const {stateRoot} = (await proofd.call("chain_getStateRoot", [quantity])) as {stateRoot: string};
        const event = () => rollup.finalize(last + 1, end, stateRoot);
        times.push(await measureArrival(proofd, ACCOUNT, end, event));
        last = end;
      }
      return summarize("from an event of layer 1 to the proof", times);
    });
  } finally {
    await rollup.server.stop();
  }
}

/** Runs `work` with a service that has caught up with the node. */
async function withProofd(
  node: ChainNode,
  suite: string,
  flags: readonly string[],
  work: (proofd: ServerProcess) => Promise<FollowFigure[]>,
): Promise<FollowFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), "proofd-follow-db-"));
  const {host} = node.server.url;
  const proofd = await startProofd(join(folder, "db"), [
    ...["--suite", suite, "--l2", `http://${host},ws://${host}`, "--genesis", node.genesisPath],
    ...flags,
  ]);
  try {
    await waitUntilHeld(proofd, Number(await node.server.call("eth_blockNumber")));
    return await work(proofd);
  } finally {
    await proofd.stop();
    rmSync(folder, {recursive: true});
  }
}

async function waitUntilHeld(proofd: ServerProcess, block: number): Promise<void> {
  for (;;) {
    // An error until the first block is held.
    const head = await proofd.call("eth_blockNumber").catch(() => undefined);
    if (head !== undefined && Number(head) >= block) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
