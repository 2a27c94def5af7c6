/**
 * Following a live chain: how soon a block and its finality show in proofs while the chain grows, then catching up with it by each
 * source. It needs no store of the bench, and anvil.
 */
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {setTimeout as sleep} from "node:timers/promises";
import {NODE_SOURCES} from "../../workers/job/importSource.ts";
import {ANVIL_ACCOUNTS} from "../chains/anvilState.ts";
import {AnvilNode, TRANSACTIONS_PER_BLOCK} from "../follow/anvilNode.ts";
import {measureCatchUp} from "../follow/catchUp.ts";
import {summarizeCatchUp, summarizeTimes} from "../follow/followFigures.ts";
import {
  type Follower,
  measureArrival,
  measureBlocks,
  waitUntilHeld,
  withService,
} from "../follow/followingService.ts";
import {finalize, ROLLUP, startRollupNode} from "../follow/rollupNode.ts";
import {startTrieLogNode} from "../follow/trieLogNode.ts";
import type {StageFigure} from "./benchRun.ts";

/** Enough for a p99 of both times, and so many before them that the service is warm. */
const MOST_BLOCKS = 220;
const MOST_ARRIVALS = 100;
/** proofd asks for new finality this often. */
const POLL_MS = 12_000;
/** Multiples of it, less the whole part, are spread evenly. */
const GOLDEN = 0.618034;
const ACCOUNT = ANVIL_ACCOUNTS[0] as string;

/**
 * @param blocks - of the chain, at least 3; more than MOST_BLOCKS are not made
 * @throws Error if anvil is not installed
 */
export async function* measureFollowing(
  suite: string,
  blocks: number,
): AsyncGenerator<StageFigure, undefined> {
  const length = Math.min(blocks, MOST_BLOCKS);
  const count = Math.min(Math.floor((length - 1) / 2), MOST_ARRIVALS);
  const node = await AnvilNode.start();
  const folder = mkdtempSync(join(tmpdir(), "proofd-follow-db-"));
  try {
    const follower = {db: join(folder, "db"), suite, node};
    for (let block = 2 * count; block < length; block++) await node.mine();
    const arrivals = await measureBlocks(follower, {address: ACCOUNT, count});
    yield* summarizeTimes("block of the node to its proof", arrivals, 1, "ms");
    const times = await measureFinality(follower, count);
    yield* summarizeTimes("event of layer 1 to the proof", times, POLL_MS, "polls");
    yield* measureSources(node, folder, suite, length);
  } finally {
    rmSync(folder, {recursive: true});
    await node.stop();
  }
}

/** The events come at every moment between two polls alike. @returns milliseconds */
async function measureFinality(follower: Follower, count: number): Promise<number[]> {
  const rollup = await startRollupNode();
  try {
    const {href} = rollup.url;
    const flags = ["--l1", href, "--rollup", ROLLUP, "--l1-depth", "0"];
    return await withService(follower, flags, async proofd => {
      const times: number[] = [];
      const readRoot = async (block: number): Promise<string> => {
        const answer = await proofd.call("chain_getStateRoot", [`0x${block.toString(16)}`]);
        return (answer as {readonly stateRoot: string}).stateRoot;
      };
      let last = 0;
      for (let i = 0; i < count; i++) {
        const end = await follower.node.mine();
        await waitUntilHeld(proofd, end);
        const [parentRoot, root] = [await readRoot(last), await readRoot(end)];
        await sleep(((i * GOLDEN) % 1) * POLL_MS);
        const event = () => finalize(rollup, last + 1, end, parentRoot, root);
        times.push(await measureArrival(proofd, ACCOUNT, end, event));
        last = end;
      }
      return times;
    });
  } finally {
    await rollup.stop();
  }
}

async function* measureSources(
  node: AnvilNode,
  folder: string,
  suite: string,
  blocks: number,
): AsyncGenerator<StageFigure> {
  const logs = await startTrieLogNode(node, blocks);
  try {
    const {genesisPath, server} = node;
    for (const source of NODE_SOURCES) {
      const hasLogs = source === "trielogs";
      const url = (hasLogs ? logs : server).url;
      const processes = hasLogs ? [server, logs] : [server];
      const followed = {source, genesisPath, url, processes};
      const caughtUp = await measureCatchUp(followed, join(folder, source), suite, blocks);
      yield* summarizeCatchUp(source, caughtUp, TRANSACTIONS_PER_BLOCK);
    }
  } finally {
    await logs.stop();
  }
}
