/**
 * A feed over NATS JetStream: what each of its steps costs, blocks a second from a publisher to a replica, how much later a block is
 * provable on the replica, two replicas behind HAProxy, and proofs that a cache keeps. It needs nats-server and haproxy, and says so if
 * one is missing.
 */
import {mkdtempSync, rmSync} from "node:fs";
import {join} from "node:path";
import {numberedAddress} from "proofd-load";
import {DEFAULT_SUITE_NAME} from "../../storage/hash/suiteNames.ts";
import {withStream} from "../feed/benchStream.ts";
import {measureHeldBlocks} from "../feed/heldBlocks.ts";
import {startNats} from "../feed/natsProcess.ts";
import {measureDelays, measureThroughput, readHeld, readPublished} from "../feed/throughFeed.ts";
import {ProgramMissing} from "../program/foundProgram.ts";
import {BENCH_FOLDER} from "../program/runFile.ts";
import {Yardstick} from "../program/yardstick.ts";
import {type ServerProcess, startProofd} from "../served/serverProcess.ts";
import {copyStore} from "../served/storeCopy.ts";
import {LEAF_WRITES_PER_BLOCK} from "../stages/benchChain.ts";
import {BENCH_CHAIN} from "../stages/benchContracts.ts";
import {measureBalanced} from "./balancedBench.ts";
import {changeAccounts} from "./importBeside.ts";
import {type Finding, readLatest, type ServiceBench} from "./serviceBench.ts";

const DELAYS = 120;
/** Of the delays: those before have code to compile. */
const WARM_DELAYS = 20;
const FLAGS = ["--no-estimate", "--workers", "1"];
/** NATS reserves the bytes of a stream: the default would not fit many disks twice. */
const PUBLISH_FLAGS = ["--stream-gb", "1", "--snapshot-every", "0"];
const HASHES_PER_LOOK = 500;
const LOOK_EVERY_MS = 100;

export async function measureFeed(bench: ServiceBench): Promise<Finding[]> {
  const folder = mkdtempSync(join(BENCH_FOLDER, "feed-"));
  try {
    return [
      ...(await orSkipped(() => measureBlocks(bench, folder))),
      ...(await orSkipped(() => measureBalanced(bench, folder))),
    ];
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

/** Without a program that it needs, a part has no figures, and says so. */
async function orSkipped(measure: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await measure();
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    process.stderr.write(`SKIPPED: ${error.message}\n`);
    return [];
  }
}

async function measureBlocks(bench: ServiceBench, folder: string): Promise<Finding[]> {
  const nats = await startNats(join(folder, "nats"));
  try {
    const source = join(folder, "source");
    copyStore(bench.directory, source);
    const {steps, messageBytes, unpackedBytes, hashUs} = await measureHeldBlocks(source, folder, nats);
    return [
      ...steps.flatMap(({step, ms, cpuMs}): Finding[] => [
        {figure: `one thread: ${step}, ${LEAF_WRITES_PER_BLOCK} leaf writes`, value: ms, unit: "ms"},
        {figure: "... processor time", value: cpuMs, unit: "ms"},
      ]),
      {figure: "a block's message", value: messageBytes, unit: "bytes"},
      {figure: "... its changes before compression", value: unpackedBytes, unit: "bytes"},
      {figure: "... a hash of 64 bytes meanwhile", value: hashUs, unit: "us"},
      ...(await measureTogether(bench, folder, nats)),
      ...(await measureApart(bench, folder, nats)),
    ];
  } finally {
    await nats.stop();
  }
}

/** A publisher and a replica that begin at once. */
async function measureTogether(bench: ServiceBench, folder: string, nats: ServerProcess): Promise<Finding[]> {
  const flags = ["--stream", "together"];
  const replica = await startReplica(folder, "together", nats, flags);
  try {
    const publisher = await startPublisher(bench, nats, flags);
    try {
      const last = await readLatest(publisher);
      const {blocksPerSecond} = await measureThroughput(() => readHeld(replica), last, []);
      return [{figure: "publisher and replica at once", value: blocksPerSecond, unit: "/s"}];
    } finally {
      await publisher.stop();
    }
  } finally {
    await replica.stop();
  }
}

/** A publisher alone, then a replica with a stream that is there, then block by block. */
async function measureApart(bench: ServiceBench, folder: string, nats: ServerProcess): Promise<Finding[]> {
  const publisher = await startPublisher(bench, nats, ["--allow-unverified", "--diffs", "-"]);
  try {
    const last = await readLatest(publisher);
    const published = await withStream(nats, "blocks", DEFAULT_SUITE_NAME, stream =>
      measureThroughput(() => readPublished(stream), last, [publisher]),
    );
    const replica = await startReplica(folder, "apart", nats, []);
    try {
      const taken = await measureThroughput(() => readHeld(replica), last, [replica]);
      return [
        {figure: "a publisher alone", value: published.blocksPerSecond, unit: "/s"},
        {figure: "... processor time a block", value: published.cpuMs[0] as number, unit: "ms"},
        {figure: "a replica alone, the stream is there", value: taken.blocksPerSecond, unit: "/s"},
        {figure: "... processor time a block", value: taken.cpuMs[0] as number, unit: "ms"},
        ...(await measureBlockByBlock(bench, publisher, replica)),
      ];
    } finally {
      await replica.stop();
    }
  } finally {
    await publisher.stop();
  }
}

async function measureBlockByBlock(
  {accounts}: ServiceBench,
  publisher: ServerProcess,
  replica: ServerProcess,
): Promise<Finding[]> {
  const first = (await readLatest(publisher)) + 1;
  const blocks = Array.from({length: DELAYS}, (_, at) =>
    changeAccounts(first + at, accounts, LEAF_WRITES_PER_BLOCK),
  );
  const yardstick = new Yardstick(HASHES_PER_LOOK, LOOK_EVERY_MS);
  yardstick.start();
  const all = await measureDelays(publisher, replica, `0x${numberedAddress(0)}`, first, blocks);
  yardstick.stop();
  const delays = all.slice(WARM_DELAYS).sort((a, b) => a - b);
  const at = (share: number) => delays[Math.floor(delays.length * share)] as number;
  return [
    {figure: "proof on the publisher to proof on the replica, median", value: at(0.5), unit: "ms"},
    {figure: "... p99", value: at(0.99), unit: "ms"},
    {figure: "... a hash of 64 bytes meanwhile", value: yardstick.medianUs, unit: "us"},
  ];
}

function startPublisher(
  bench: ServiceBench,
  nats: ServerProcess,
  flags: readonly string[],
): Promise<ServerProcess> {
  return startProofd(bench.directory, [...FLAGS, "--publish", writeUrl(nats), ...PUBLISH_FLAGS, ...flags]);
}

function startReplica(
  folder: string,
  name: string,
  nats: ServerProcess,
  flags: readonly string[],
): Promise<ServerProcess> {
  const chainId = String(BENCH_CHAIN.chainId);
  return startProofd(join(folder, name), [
    ...FLAGS,
    "--allow-unverified",
    "--feed",
    writeUrl(nats),
    "--chain-id",
    chainId,
    ...flags,
  ]);
}

function writeUrl({url}: ServerProcess): string {
  return `nats://${url.host}`;
}
