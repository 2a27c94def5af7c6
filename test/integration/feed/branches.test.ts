/** What once stopped a feed for good: chains that return to a branch, brokers that stand still, streams that are emptied or gone. Of stores with tries alone. */
import assert from "node:assert/strict";
import {mkdir} from "node:fs/promises";
import {after, before, test} from "node:test";
import {type JetStreamManager, jetstreamManager} from "@nats-io/jetstream";
import {FeedStream} from "../../../nodes/feed/feedStream.ts";
import type {NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {startSnapshotUpload} from "../../../workers/threads/snapshotUpload.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {ACCOUNTS, CHAIN_ID, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForCoverage, waitForMetric, waitForReadiness} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {lacksNats, NatsServer} from "../../support/nats/natsServer.ts";
import {describeNeeding} from "../../support/processes/notRun.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {waitUntil, within} from "../../support/wait.ts";

const STREAM = "blocks";
const CHAIN = {suite: "keccak", chainId: BigInt(CHAIN_ID)};

/** Blocks `from` to `to` of a branch after block `fork`. Branch 0 is createLine's. */
function createBranch(branch: number, fork: number, from: number, to: number): DifferenceLine[] {
  const hashOf = (number: number) =>
    branch === 0 || number <= fork
      ? createLine(number).hash
      : `0x${number.toString(16).padStart(64, `${branch}`)}`;
  return Array.from({length: to - from + 1}, (_, at) => {
    const number = from + at;
    const {accounts, ...line} = createLine(number);
    const changed = branch === 0 ? accounts : {[ACCOUNTS[0] as string]: {balance: `0x${branch}${number}`}};
    return {...line, hash: hashOf(number), parentHash: hashOf(number - 1), accounts: changed};
  });
}

describeNeeding(lacksNats(), "a feed whose chain takes other branches", () => {
  const folder = new WorkFolder();
  let nats: NatsServer;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let stream: FeedStream;
  let publisher: OwnService;
  let replica: OwnService;

  before(async () => {
    nats = await NatsServer.start(folder.file("jetstream"));
    connection = await nats.connect();
    manager = await jetstreamManager(connection);
    // With the default of --stream-gb.
    publisher = await OwnService.fed(folder.file("publisher"), [
      ...["--publish", nats.url, "--snapshot-every", "10000", "--suite", CHAIN.suite],
    ]);
    replica = await startReplica("replica");
    await feed(createBranch(0, 0, 0, 8));
    await assertFollowed(8);
    stream = await FeedStream.open(connection, STREAM, CHAIN);
  });

  after(async () => {
    await replica.stop();
    await publisher.stop();
    await connection.close();
    await nats.kill();
  });

  function startReplica(name: string): Promise<OwnService> {
    const flags = ["--db", folder.file(name), "--allow-unverified", "--chain-id", CHAIN_ID];
    return OwnService.serve([...flags, "--suite", CHAIN.suite, "--feed", nats.url]);
  }

  /** The publisher's chain goes on after block `after` with these. */
  async function feed(lines: readonly DifferenceLine[], after?: number): Promise<void> {
    if (after !== undefined) await publisher.engine.writes.rollback(after);
    for (const line of lines) publisher.input.write(`${JSON.stringify(line)}\n`);
    const {number} = lines.at(-1) as DifferenceLine;
    await waitForCoverage(publisher, "latest", number);
  }

  async function rootOf(service: OwnService, block: number): Promise<object> {
    const {result} = await service.call("chain_getStateRoot", [`0x${block.toString(16)}`]);
    return {...result, finalized: 0};
  }

  async function assertFollowed(last: number, service = replica): Promise<void> {
    await waitForMetric(publisher, `proofd_published_block ${last}`);
    const newest = await rootOf(publisher, last);
    await service.until(`block ${last} to be the publisher's`, async () => {
      const {result} = await service.call("chain_getStateRoot", [`0x${last.toString(16)}`]);
      return JSON.stringify({...result, finalized: 0}) === JSON.stringify(newest);
    });
    for (let block = 0; block < last; block++)
      assert.deepEqual(await rootOf(service, block), await rootOf(publisher, block));
    assert.doesNotMatch(service.stderr, /the import failed/);
  }

  test("a read that is stopped while its consumer is being created ends", async () => {
    const {lastSequence} = await stream.readTip();
    const ending = new AbortController();
    const asked = {from: lastSequence + 1, until: lastSequence};
    const next = stream.read(asked, () => false, ending.signal).next();
    ending.abort();
    assert.equal((await within("the end of the read", next)).done, true);
  });

  test("a chain that returns to a branch which the stream had before is followed, by old replicas and new ones", async () => {
    await feed(createBranch(1, 5, 6, 9), 5);
    await assertFollowed(9);
    await feed(createBranch(0, 5, 6, 10), 5);
    await assertFollowed(10);
    await feed(createBranch(1, 5, 6, 11), 5);
    await assertFollowed(11);
    await replica.stop();
    await feed(createBranch(0, 5, 6, 12), 5);
    replica = await startReplica("replica");
    await assertFollowed(12);
    const fresh = await startReplica("fresh");
    await assertFollowed(12, fresh);
    await fresh.stop();
    // Those that were read to find the way are gone, and so are those of replicas that have stopped.
    await waitUntil("the only consumer to be the replica's", async () => {
      const {state} = await manager.streams.info(STREAM);
      return state.consumer_count === 1;
    });
  });

  test("a broker that stands still while the chain returns to a branch loses nothing: the lone publisher knows its own last block", async () => {
    for (const [branch, last] of [
      [1, 13],
      [0, 7], // lower than the block that the stream has
    ] as const) {
      nats.send("SIGSTOP");
      await feed(createBranch(branch, 5, 6, last), 5);
      await waitForReadiness(publisher, /publishing is waiting/);
      nats.send("SIGCONT");
      await assertFollowed(last);
    }
  });

  test("a replica whose snapshot has blocks that the stream never had goes back to the stream's", async () => {
    // In a folder of its own: an upload clears away what it finds beside its store of others of this process.
    await mkdir(folder.file("other"));
    const directory = folder.file("other/strange");
    const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "e")}`;
    const strange = [8, 9].map(number => ({
      ...createLine(number),
      hash: hashOf(number),
      parentHash: number === 8 ? createLine(7).hash : hashOf(8),
    }));
    await importLines(directory, [...createLines(0, 7), ...strange], CHAIN);
    const {outcome} = startSnapshotUpload({
      ...{directory, nats: {urls: [nats.url], credsPath: undefined}, stream: STREAM, chain: CHAIN},
      ...{replicas: 1, bytesPerSecond: 1e9, unlessFrom: 1000},
    });
    const uploaded = await outcome;
    assert.ok("sentBytes" in uploaded, JSON.stringify(uploaded));
    const fresh = await startReplica("ahead");
    await fresh.waitForStderr(/the snapshot is complete and verified/);
    await waitForCoverage(fresh, "latest", "0x9");
    await feed(createBranch(0, 0, 8, 8));
    await assertFollowed(8, fresh);
    await feed(createBranch(0, 0, 9, 10));
    await assertFollowed(10, fresh);
    await fresh.stop();
  });

  test("a stream and a bucket that are emptied or gone are filled again, and replicas go on", async () => {
    await manager.streams.purge(STREAM);
    await feed(createBranch(0, 0, 11, 11));
    await assertFollowed(11);
    await manager.streams.delete(STREAM);
    await manager.streams.delete(`OBJ_${STREAM}-${BigInt(CHAIN_ID)}`);
    await publisher.until("the stream to be filled again", async () => {
      try {
        return (await stream.readTip()).block?.head.number === 11;
      } catch {
        return false; // there is none yet
      }
    });
    await waitForMetric(publisher, "proofd_published_snapshot_block 11");
    await feed(createBranch(0, 0, 12, 13));
    await assertFollowed(13);
    const fresh = await startReplica("fresh-2");
    await assertFollowed(13, fresh);
    await fresh.waitForStderr(/the snapshot is complete and verified/);
    await fresh.stop();
  });
});
