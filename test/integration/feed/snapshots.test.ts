/** Snapshots that are interrupted, uploads that meet, and streams that find no room. */
import assert from "node:assert/strict";
import {mkdir, rename, rm, symlink, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {jetstream, jetstreamManager} from "@nats-io/jetstream";
import {type ObjectStore, Objm} from "@nats-io/obj";
import type {NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {type SnapshotList, SnapshotStore} from "../../../nodes/feed/snapshotStore.ts";
import {startSnapshotUpload} from "../../../workers/threads/snapshotUpload.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {
  CHAIN_ID,
  createLine,
  createLines,
  diffsFlags,
  WorkFolder,
} from "../../support/chains/serviceChain.ts";
import {
  waitForCoverage,
  waitForMetric,
  waitForReadiness,
  waitForState,
} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {Daemon} from "../../support/processes/daemon.ts";
import {describeNeeding, notRun} from "../../support/processes/notRun.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {waitUntil, within} from "../../support/wait.ts";

const DISK_BYTES = 32 << 20;
/** Mounts a file system in memory, and runs what follows. */
const MOUNTED = `mount -t tmpfs -o size=${DISK_BYTES} tmpfs "$1"; shift; exec "$@"`;
const CHAIN = {suite: "sha256", chainId: BigInt(CHAIN_ID)};

describeNeeding(lacksNats(), "snapshots of a feed", () => {
  const folder = new WorkFolder();
  let nats: NatsServer;
  let connection: NatsConnection;

  before(async () => {
    await writeFile(folder.file("nats.conf"), "jetstream: {max_file_store: 4GB}\n");
    nats = await NatsServer.start(folder.file("jetstream"), ["-c", folder.file("nats.conf")]);
    connection = await nats.connect();
    // Each in a folder of its own: an upload clears away what it finds beside its store of others of this process.
    for (const name of ["low", "high"]) await mkdir(folder.file(name));
    await importLines(folder.file("low/db"), createLines(0, 3), {finalized: 3});
    await importLines(folder.file("high/db"), createLines(0, 5), {finalized: 5});
  });

  after(async () => {
    await connection.close();
    await nats.kill();
  });

  function upload(db: string, stream: string, bytesPerSecond = 1e9) {
    return startSnapshotUpload({
      ...{directory: folder.file(db), nats: nats.settings, stream, chain: CHAIN},
      ...{replicas: 1, bytesPerSecond, unlessFrom: 1000},
    });
  }

  async function openBucket(stream: string): Promise<ObjectStore> {
    return new Objm(jetstream(connection)).open(`${stream}-${CHAIN.chainId}`);
  }

  async function readNewest(stream: string): Promise<SnapshotList> {
    const store = await SnapshotStore.open(connection, stream, CHAIN);
    return (await store?.readList(new AbortController().signal)) as SnapshotList;
  }

  /** A process without a store. */
  function startReplica(name: string, stream: string): Daemon {
    const flags = [
      "--db",
      folder.file(name),
      "--chain-id",
      CHAIN_ID,
      "--port",
      "0",
      "--estimate-workers",
      "0",
      "--allow-unverified",
    ];
    return new Daemon(["serve", ...flags, "--feed", nats.url, "--stream", stream]);
  }

  test("without --stream-gb a stream takes what the broker has room for, and with one that is too large the error says what is wanted and free", async () => {
    const serve = (db: string, ...flags: string[]) =>
      OwnService.serve(["--db", folder.file(db), "--publish", nats.url, "--snapshot-every", "0", ...flags]);
    const fitting = await serve("low/db", "--stream", "fitting");
    await waitForReadiness(fitting, /^(?![\s\S]*publishing is)/);
    const tooLarge = await serve("high/db", "--stream", "large", "--stream-gb", "2");
    await waitForReadiness(
      tooLarge,
      /publishing is refused: --stream-gb: NATS has no room for the stream large: 2000000000 bytes are wanted, 12\d{8} are free\n/,
    );
    await tooLarge.stop();
    await fitting.stop();
  });

  test("two uploads at once come one after the other, and neither removes what the other one's snapshot has", async () => {
    const ended: string[] = [];
    const begin = async (db: string, bytesPerSecond: number): Promise<void> => {
      const outcome = await upload(db, "twice", bytesPerSecond).outcome;
      assert.ok("block" in outcome, JSON.stringify(outcome));
      ended.push(db);
    };
    // Some seconds.
    const slow = begin("high/db", 30_000);
    await waitUntil("the slow one to hold the lease", async () => {
      const bucket = await openBucket("twice").catch(() => undefined); // not made yet
      return ((await bucket?.info("turn")) ?? undefined) !== undefined;
    });
    await Promise.all([slow, begin("low/db", 1e9)]);
    assert.deepEqual(ended, ["high/db", "low/db"]);
    const bucket = await openBucket("twice");
    const objects = new Set((await bucket.list()).map(({name}) => name));
    const {files} = await readNewest("twice");
    for (const {sha256, bytes} of files) assert.ok(bytes === 0 || objects.has(sha256));
    assert.ok(!objects.has("turn"));
  });

  test("a snapshot with a wrong chunk, without a file, for which there is no room or of a broker that stands still is waited for with its reason, and SIGTERM ends that at once", async () => {
    assert.ok("block" in (await upload("high/db", "broken").outcome));
    const bucket = await openBucket("broken");
    const {files} = await readNewest("broken");
    const {name, sha256} = files.find(({bytes}) => bytes > 1000) as SnapshotList["files"][number];
    const right = await bucket.getBlob(sha256);
    const said = (reason: RegExp) =>
      new RegExp(
        `"state":"waiting","reason":"[^"]*${reason.source}[^"]*","msg":"no usable snapshot of the feed yet`,
      );

    await bucket.delete(sha256);
    const replica = startReplica("replica", "broken");
    await replica.waitForStderr(said(/the snapshot's file \S+ is gone/));
    await bucket.putBlob({name: sha256}, Buffer.from(right as Uint8Array).fill(7, 100, 200));
    await replica.waitForStderr(said(/the snapshot's file \S+: expected \d+ bytes with the SHA-256/));
    // Whatever is written to this file, its disk is full.
    const onFull = join(folder.file("replica.taking"), name);
    await symlink("/dev/full", folder.file("full"));
    await rename(folder.file("full"), onFull);
    await bucket.putBlob({name: sha256}, right as Uint8Array);
    await replica.waitForStderr(said(/ENOSPC: no space left on device, write/));
    await rm(onFull);
    await within("the replica to listen", replica.listening);
    await waitForCoverage(replica, "latest", "0x5");
    await waitForState(replica, "waiting"); // there is no stream
    await replica.stop();

    await bucket.delete(sha256);
    const other = startReplica("other", "broken");
    await other.waitForStderr(said(/is gone/));
    await bucket.putBlob({name: "newest"}, Buffer.alloc(17 << 20));
    await other.waitForStderr(said(/the list of the newest snapshot has more than \d+ bytes/));
    nats.send("SIGSTOP");
    const {code, stderr} = await other.stop();
    nats.send("SIGCONT");
    assert.doesNotMatch(stderr, /^\s+at |^error/m);
    assert.equal(code, 0);
  });

  test("a publisher without room for a snapshot says so, publishes on, tries again, and uploads it once there is room", async t => {
    const disk = folder.file("disk");
    await mkdir(disk);
    await writeFile(folder.file("lines"), encodeLines(createLines(0, 5)));
    const flags = diffsFlags(`${disk}/db`, folder.file("lines"));
    const publisher = new Daemon(
      [
        ...[
          "serve",
          "--estimate-workers",
          "0",
          "--port",
          "0",
          "--metrics-port",
          "0",
          ...flags,
          "--finalized",
          "5",
          "--chain-id",
          CHAIN_ID,
        ],
        ...[...publishTo(nats.url), "--stream", "full"],
      ],
      {under: ["unshare", "--mount", "--map-root-user", "sh", "-e", "-c", MOUNTED, "sh", disk]},
    );
    await within("proofd to listen or end", Promise.race([publisher.listening, publisher.finished]));
    if (/unshare|^mount/.test(publisher.stderr)) return notRun(t, "nothing can be mounted here");
    const uploaded = "proofd_published_snapshot_block 5";
    await waitForMetric(publisher, uploaded);
    const ballast = `/proc/${publisher.child.pid}/root${disk}/ballast`;
    await assert.rejects(writeFile(ballast, Buffer.alloc(DISK_BYTES)), {code: "ENOSPC"});
    await (await jetstreamManager(connection)).streams.delete(`OBJ_full-${CHAIN.chainId}`);
    await waitForReadiness(
      publisher,
      /^ready\n[\s\S]*no snapshot for replicas can be uploaded: .*no space left on device/i,
    );
    await waitForMetric(publisher, 'proofd_publish_state{state="published"} 1');
    await rm(ballast);
    await waitForMetric(publisher, uploaded);
    await waitForReadiness(publisher, /^ready\n(?![\s\S]*no snapshot)/);
    await publisher.stop();
  });

  test("a publisher whose store has blocks without what they changed begins the stream after them, and replicas with its snapshot", async () => {
    const publisher = await OwnService.fed(folder.file("low/db"), [
      "--publish",
      nats.url,
      "--stream",
      "late",
    ]);
    await waitForMetric(publisher, "proofd_published_snapshot_block 3");
    const replica = startReplica("late", "late");
    await within("the replica to listen", replica.listening);
    publisher.input.write(`${JSON.stringify(createLine(4))}\n`);
    await waitForCoverage(replica, "latest", "0x4");
    await replica.stop();
    await publisher.stop();
  });
});
