/**
 * Sends blocks from a publisher to a replica over NATS JetStream. Skipped, with a message, if nats-server is not in
 * PATH.
 */
import {join} from "node:path";
import {setTimeout as sleep} from "node:timers/promises";
import {type ServerProcess, startProofd, startServer} from "../program/serverProcess.ts";
import {LEAF_WRITES_PER_BLOCK} from "../stages/benchChain.ts";
import {BENCH_CHAIN} from "../stages/benchContracts.ts";
import {type Finding, readNewest, type Scenario, waitForBlock, writeBlock} from "./scenario.ts";

const WARM_BLOCKS = 50;
const CAUGHT_BLOCKS = 300;
const LOOK_MS = 100;
const BLOCKS = 100;
const FLAGS = ["--estimate-workers", "0", "--workers", "1", "--allow-unverified"];

export async function measureFeed(scenario: Scenario): Promise<Finding[]> {
  const nats = await startNats(join(scenario.folder, "nats"));
  if (nats === undefined) {
    process.stderr.write("SKIPPED: nats-server is not in PATH (Debian: apt-get install nats-server)\n");
    return [];
  }
  const url = `nats://${nats.url.host}`;
  const started = [nats];
  try {
    const stream = ["--publish", url, "--diffs", "-"];
    const publisher = await startProofd(scenario.store, [...FLAGS, ...stream]);
    started.unshift(publisher);
    const begun = await readNewest(publisher);
    await waitForSnapshot(publisher, begun);
    const last = begun + WARM_BLOCKS + CAUGHT_BLOCKS;
    for (let number = begun + 1; number <= last; number++)
      publisher.write(writeBlock(number, scenario.accounts, LEAF_WRITES_PER_BLOCK));
    await waitForBlock(publisher, last);
    const chain = ["--feed", url, "--chain-id", String(BENCH_CHAIN.chainId)];
    const replica = await startProofd(join(scenario.folder, "replica"), [...FLAGS, ...chain]);
    started.unshift(replica);
    await waitForBlock(replica, begun + WARM_BLOCKS);
    const first = await readNewest(replica);
    const startMs = performance.now();
    await waitForBlock(replica, last);
    const perSecond = ((last - first) * 1000) / (performance.now() - startMs);
    const delays = await measureDelays(publisher, replica, last + 1, scenario.accounts);
    const at = (share: number) => delays[Math.floor(delays.length * share)] as number;
    const caughtUp = `a replica catches up, ${LEAF_WRITES_PER_BLOCK} leaf writes a block: blocks`;
    return [
      {figure: caughtUp, value: perSecond, unit: "/s"},
      {figure: "from a block to its proof on the replica, median", value: at(0.5), unit: "ms"},
      {figure: "... p99", value: at(0.99), unit: "ms"},
    ];
  } finally {
    for (const one of started) await one.stop();
  }
}

/** Publishes finalized blocks one by one. @returns sorted milliseconds until the replica can prove each */
async function measureDelays(
  publisher: ServerProcess,
  replica: ServerProcess,
  first: number,
  accounts: number,
): Promise<number[]> {
  const delays: number[] = [];
  for (let number = first; number < first + BLOCKS; number++) {
    const block = writeBlock(number, accounts, LEAF_WRITES_PER_BLOCK);
    const startMs = performance.now();
    publisher.write(block);
    await waitForFinalized(replica, number);
    delays.push(performance.now() - startMs);
  }
  return delays.sort((a, b) => a - b);
}

async function waitForFinalized(replica: ServerProcess, block: number): Promise<void> {
  while ((await readNewest(replica, "finalized")) < block);
}

/** Waits for the snapshot that the replica starts from, since the bench store has no block differences to publish. */
async function waitForSnapshot(publisher: ServerProcess, block: number): Promise<void> {
  const sample = `\nproofd_published_snapshot_block ${block}\n`;
  while (!(await (await fetch(new URL("/metrics", publisher.url))).text()).includes(sample))
    await sleep(LOOK_MS);
}

async function startNats(folder: string): Promise<ServerProcess | undefined> {
  try {
    return await startServer({
      name: "nats-server",
      command: "nats-server",
      // -p -1: a free port.
      args: ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder],
      listening: /Listening for client connections on ([0-9.:]+)\s/,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
