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
import {type Arrivals, measureArrival, summarize} from "../follow/arrival.ts";
import {type Followed, measureCatchUp} from "../follow/catchUp.ts";
import {ChainNode} from "../follow/chainNode.ts";
import {type Follower, waitUntilHeld, withService} from "../follow/followingService.ts";
import {
  ARRIVAL_HEADING,
  CATCH_UP_HEADING,
  type FollowPart,
  partOfBlocks,
  partOfCatchUp,
  partOfFinality,
} from "../follow/followReport.ts";
import {ROLLUP, RollupNode} from "../follow/rollupNode.ts";
import {startTrieLogNode} from "../follow/trieLogNode.ts";

/** Enough for a p99 of both times, and so many before them that the service is warm. */
const MOST_BLOCKS = 220;
const MOST_ARRIVALS = 100;
/** Of layer 1. The default is the time of its blocks, 12 s. */
const POLL_MS = 1000;
/** Multiples of it, less the whole part, are spread evenly. */
const GOLDEN = 0.618034;
const ACCOUNT = ANVIL_ACCOUNTS[0] as string;

/**
 * @param blocks - of the chain, at least 3; more than MOST_BLOCKS are not made
 */
export async function* measureFollowing(
  suite: string,
  blocks: number,
): AsyncGenerator<FollowPart, undefined> {
  const length = Math.min(blocks, MOST_BLOCKS);
  const count = Math.min(Math.floor((length - 1) / 2), MOST_ARRIVALS);
  const node = await ChainNode.start();
  if (node === undefined) throw noAnvil();
  const folder = mkdtempSync(join(tmpdir(), "proofd-follow-db-"));
  try {
    const follower = {db: join(folder, "db"), suite, node};
    for (let block = 2 * count; block < length; block++) await node.mine();
    yield ARRIVAL_HEADING;
    yield partOfBlocks(await measureBlocks(follower, count));
    yield partOfFinality(await measureFinality(follower, count), POLL_MS);
    yield CATCH_UP_HEADING;
    yield* measureSources(node, suite, length);
  } finally {
    rmSync(folder, {recursive: true});
    await node.stop();
  }
}

/** Every block is finalized as it comes, so its proof can be served at once. */
function measureBlocks(follower: Follower, count: number): Promise<Arrivals> {
  const {server} = follower.node;
  return withService(follower, ["--finalized", "last"], async proofd => {
    const times: number[] = [];
    for (let i = 0; i < count; i++) {
      const next = Number(await server.call("eth_blockNumber")) + 1;
      const event = async () => void (await follower.node.mine());
      times.push(await measureArrival(proofd, ACCOUNT, next, event));
    }
    return summarize(times);
  });
}

/** The events come at every moment between two polls alike. */
async function measureFinality(follower: Follower, count: number): Promise<Arrivals> {
  const rollup = await RollupNode.start();
  if (rollup === undefined) throw noAnvil();
  try {
    const {href} = rollup.server.url;
    const flags = ["--l1", href, "--rollup", ROLLUP, "--l1-depth", "0", "--finality-poll", `${POLL_MS}`];
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
        const event = () => rollup.finalize(last + 1, end, parentRoot, root);
        times.push(await measureArrival(proofd, ACCOUNT, end, event));
        last = end;
      }
      return summarize(times);
    });
  } finally {
    await rollup.server.stop();
  }
}

async function* measureSources(node: ChainNode, suite: string, blocks: number): AsyncGenerator<FollowPart> {
  const logs = await startTrieLogNode(node, blocks);
  try {
    const {genesisPath, server} = node;
    for (const source of NODE_SOURCES) {
      const hasLogs = source === "trielogs";
      const followed: Followed = {
        source,
        genesisPath,
        url: (hasLogs ? logs : server).url,
        processes: hasLogs ? [server, logs] : [server],
      };
      yield partOfCatchUp(source, await measureCatchUp(followed, suite, blocks));
    }
  } finally {
    await logs.stop();
  }
}

function noAnvil(): Error {
  return new Error("the stage `follow` needs anvil, which is not installed here");
}
