/** Stores that change unpublished, emptied streams, backups: replicas end with the publisher's chain by themselves. */
import assert from "node:assert/strict";
import {cp, mkdir, rm} from "node:fs/promises";
import {after, before, test} from "node:test";
import {jetstreamManager} from "@nats-io/jetstream";
import type {NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {ACCOUNTS, CHAIN_ID, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {
  waitForCoverage,
  waitForMetric,
  waitForReadiness,
  waitForState,
} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {describeNeeding} from "../../support/processes/notRun.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const NO_SNAPSHOTS = ["--snapshot-every", "0"];
const TAKEN = /the snapshot is complete and verified/;
/** The newest block before anything happens. */
const LAST = 3;

/** Blocks `from` to `to` of another branch, after createLine's block `from - 1`. */
function createBranch(from: number, to: number): DifferenceLine[] {
  const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "b")}`;
  return createLines(from, to).map((line, at) => ({
    ...line,
    hash: hashOf(from + at),
    parentHash: at === 0 ? createLine(from - 1).hash : hashOf(from + at - 1),
    accounts: {[ACCOUNTS[0] as string]: {balance: `0x${from + at}`}},
  }));
}

class Feed {
  publisher!: OwnService;
  replica!: OwnService;

  constructor(
    private readonly folder: WorkFolder,
    private readonly nats: NatsServer,
    readonly stream: string,
  ) {}

  /** In a folder of its own: snapshots are made beside it. */
  get db(): string {
    return this.folder.file(`${this.stream}/publisher`);
  }

  get replicaDb(): string {
    return this.folder.file(`${this.stream}/replica`);
  }

  async publish(flags: readonly string[] = []): Promise<void> {
    await this.open([...publishTo(this.nats.url), "--stream", this.stream, ...flags]);
  }

  /** Serves the publisher's store without publishing it. */
  async open(flags: readonly string[] = []): Promise<void> {
    await rm(`${this.db}.fifo`, {force: true});
    this.publisher = await OwnService.fed(this.db, ["--workers", "1", ...flags]);
  }

  async follow(): Promise<void> {
    const flags = ["--db", this.replicaDb, "--workers", "1", "--allow-unverified", "--chain-id", CHAIN_ID];
    this.replica = await OwnService.serve([...flags, "--feed", this.nats.url, "--stream", this.stream]);
  }

  async write(lines: readonly DifferenceLine[]): Promise<void> {
    for (const line of lines) this.publisher.input.write(`${JSON.stringify(line)}\n`);
    await waitForCoverage(this.publisher, "latest", (lines.at(-1) as DifferenceLine).number);
  }

  /** Blocks whose changes are not kept with them. */
  async importBare(lines: readonly DifferenceLine[]): Promise<void> {
    await importLines(this.db, lines);
  }

  async assertFollowed(block: number): Promise<void> {
    const {publisher, replica} = this;
    await waitForMetric(publisher, `proofd_published_block ${block}`);
    await waitForMetric(publisher, 'proofd_publish_state{state="published"} 1');
    const rootOf = async (service: OwnService, number: number) =>
      (await service.call("chain_getStateRoot", [`0x${number.toString(16)}`])).result;
    const newest = await rootOf(publisher, block);
    await replica.until(`block ${block} to be the publisher's`, async () => {
      const root = await rootOf(replica, block).catch(() => undefined); // it starts again with a snapshot
      return root?.hash === newest.hash;
    });
    await waitForState(replica, "following");
    for (let number = 0; number < block; number++)
      assert.equal((await rootOf(replica, number)).stateRoot, (await rootOf(publisher, number)).stateRoot);
  }
}

interface Case {
  readonly name: string;
  /** Of the publisher's first start. Default: it uploads no snapshot. */
  readonly flags?: readonly string[];
  /** Both run and hold blocks 0 to LAST. @returns the newest block, which both must hold in the end, and how the replica gets there */
  run(feed: Feed, purge: () => Promise<void>): Promise<readonly [newest: number, isSnapshot: boolean]>;
}

const CASES: readonly Case[] = [
  {
    name: "blocks rolled back while nobody published, and a branch imported then, are published at the next start",
    run: async feed => {
      await feed.publisher.stop();
      await feed.open();
      await feed.write(createLines(4, 5));
      await feed.publisher.engine.writes.rollback(2);
      await feed.write(createBranch(3, 6));
      await feed.publisher.stop();
      await feed.publish(NO_SNAPSHOTS);
      return [6, false];
    },
  },
  {
    name: "without a snapshot of blocks whose changes were not kept the publisher is incomplete and the replica behind, which serves on; with the next one both are whole",
    flags: [],
    run: async feed => {
      await waitForMetric(feed.publisher, `proofd_published_snapshot_block ${LAST}`);
      await feed.publisher.stop();
      await feed.importBare(createLines(4, 6));
      await feed.publish(NO_SNAPSHOTS);
      const lack =
        /what blocks up to 6 changed.* need a snapshot of block 6 or a later one \(--snapshot-every is 0\)/;
      await waitForReadiness(feed.publisher, new RegExp(`publishing is incomplete: .*${lack.source}`));
      await waitForMetric(feed.publisher, 'proofd_publish_state{state="incomplete"} 1');
      await waitForState(feed.replica, "behind");
      await waitForReadiness(feed.replica, /behind the feed: .*what block 6 changed.*block 3 is the newest/);
      await waitForReadiness(feed.replica, /The feed's newest snapshot is of block 3/);
      assert.equal((await feed.replica.get("/readyz")).status, 503);
      const {result} = await feed.replica.call("chain_getStateRoot", ["0x3"]);
      assert.equal(result.number, "0x3");
      // The next start knows of the gap from the stream alone.
      await feed.publisher.stop();
      await feed.publish();
      await feed.assertFollowed(6);
      await feed.write(createLines(7, 8));
      return [8, true];
    },
  },
  {
    name: "a replica from a backup takes the newest snapshot though the stream is empty and nobody publishes",
    flags: ["--snapshot-every", "1"],
    run: async (feed, purge) => {
      await feed.replica.stop();
      await feed.write(createLines(4, 5));
      await waitForMetric(feed.publisher, "proofd_published_snapshot_block 5");
      await feed.publisher.stop();
      await purge();
      await feed.follow();
      await waitForCoverage(feed.replica, "latest", "0x5");
      await feed.publish();
      return [5, true];
    },
  },
  {
    name: "a publisher from a backup is behind until it holds what the stream has, and then goes on",
    run: async feed => {
      const backup = `${feed.db}.backup`;
      await feed.publisher.stop();
      await cp(feed.db, backup, {recursive: true});
      await feed.publish(NO_SNAPSHOTS);
      await feed.write(createLines(4, 6));
      await feed.assertFollowed(6);
      await feed.publisher.stop();
      await rm(feed.db, {recursive: true});
      await cp(backup, feed.db, {recursive: true});
      await feed.publish(NO_SNAPSHOTS);
      await waitForMetric(feed.publisher, 'proofd_publish_state{state="behind"} 1');
      await feed.write(createLines(4, 7));
      return [7, false];
    },
  },
];

describeNeeding(lacksNats(), "a stream that lacks blocks", () => {
  const folder = new WorkFolder();
  let nats: NatsServer;
  let connection: NatsConnection;

  before(async () => {
    nats = await NatsServer.start(folder.file("jetstream"));
    connection = await nats.connect();
  });

  after(async () => {
    await connection.close();
    await nats.kill();
  });

  for (const [at, {name, flags = NO_SNAPSHOTS, run}] of CASES.entries())
    test(name, async () => {
      const feed = new Feed(folder, nats, `case-${at}`);
      await mkdir(folder.file(feed.stream));
      await feed.publish(flags);
      await feed.write(createLines(0, LAST));
      await waitForMetric(feed.publisher, `proofd_published_block ${LAST}`);
      await feed.follow();
      await waitForCoverage(feed.replica, "latest", `0x${LAST}`);
      const [newest, isSnapshot] = await run(feed, async () => {
        await (await jetstreamManager(connection)).streams.purge(feed.stream);
      });
      await feed.assertFollowed(newest);
      assert.equal(TAKEN.test(feed.replica.stderr), isSnapshot);
      await feed.replica.stop();
      await feed.publisher.stop();
    });
});
