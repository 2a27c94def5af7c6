/** One proofd publishes its blocks to a real nats-server, and another one serves them. */
import assert from "node:assert/strict";
import {mkdir, readdir, rename, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {jetstreamManager} from "@nats-io/jetstream";
import {connect} from "@nats-io/transport-node";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {ACCOUNTS, CHAIN_ID, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForCoverage, waitForMetric, waitForReadiness} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {proofCall} from "../../support/http/wireRequests.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {describeNeeding} from "../../support/processes/notRun.ts";
import {importLines, openOwned} from "../../support/stores/importedStore.ts";

const CODE = `0x${"60".repeat(300)}`;
const CONTRACT = `0x${"c0".repeat(20)}`;
const OTHER_ZERO = `0x${"bad".padStart(64, "0")}`;
const [ONE = "", OTHER = ""] = ACCOUNTS;

/** Block `number` of another branch than createLine's. */
function createOther(number: number, accounts: DifferenceLine["accounts"]): DifferenceLine {
  const other = (n: number) => `0x${n.toString(16).padStart(64, "f")}`;
  const {hash: _, ...line} = createLine(number);
  const parentHash = number === 8 ? createLine(7).hash : other(number - 1);
  return {...line, hash: other(number), parentHash, accounts};
}

describeNeeding(lacksNats(), "a feed", () => {
  const folder = new WorkFolder();
  let nats: NatsServer;
  let publisher: OwnService;
  let replica: OwnService;

  async function feed(lines: readonly DifferenceLine[]): Promise<void> {
    for (const line of lines) publisher.input.write(`${JSON.stringify(line)}\n`);
  }

  function reach(service: OwnService, number: string): Promise<void> {
    return waitForCoverage(service, "latest", number);
  }

  async function assertSame(block: string): Promise<void> {
    const call = {jsonrpc: "2.0", id: 1, method: "chain_getStateRoot", params: [block]};
    const [one, other] = [await publisher.send(call), await replica.send(call)];
    assert.deepEqual({...other.result, finalized: 0}, {...one.result, finalized: 0});
    assert.notEqual(one.result, undefined);
  }

  before(async () => {
    nats = await NatsServer.start(folder.file("jetstream"));
    const flags = [...publishTo(nats.url), "--snapshot-every", "1"];
    publisher = await OwnService.fed(folder.file("publisher"), flags);
    replica = await startReplica(folder.file("replica"), CHAIN_ID);
  });

  after(async () => {
    await replica.stop();
    await publisher.stop();
    await nats.kill();
  });

  test("a replica gets every block, its code and what is finalized, and proves the same to the byte", async () => {
    const deployed = createLine(4);
    await feed([
      ...createLines(0, 3),
      {
        ...deployed,
        accounts: {...deployed.accounts, [CONTRACT]: {nonce: "0x1", code: CODE, storage: {"0x5": "0x6"}}},
      },
      createLine(5),
      createLine(6, 5),
      createLine(7),
    ]);
    await reach(replica, "0x7");
    await waitForCoverage(replica, "finalized", "0x5");
    for (let block = 0; block <= 7; block++) await assertSame(`0x${block}`);
    const batch = [ONE, OTHER, CONTRACT].flatMap((address, id) =>
      ["0x0", "0x4", "0x5"].map(block => proofCall(id, address, ["0x1", "0x5"], block)),
    );
    assert.deepEqual(await replica.send(batch), await publisher.send(batch));
  });

  test("accounts that are destroyed, made again or changed in their slots come as they are, and so does a branch that takes another's place", async () => {
    await feed([
      {
        ...createLine(8),
        accounts: {
          [ONE]: null,
          [CONTRACT]: {reset: true, nonce: "0x2", storage: {"0x7": "0x8"}},
          [OTHER]: {storage: {"0x1": "0x0", "0x2": "0xff"}},
        },
      },
      {...createLine(9), accounts: {[ONE]: {balance: "0x1"}, [CONTRACT]: {code: "0x"}}},
    ]);
    await reach(replica, "0x9");
    await assertSame("0x8");
    await assertSame("0x9");
    await publisher.engine.writes.rollback(7);
    await feed([
      createOther(8, {[ONE]: {nonce: "0x9"}}),
      createOther(9, {}),
      createOther(10, {[OTHER]: null}),
    ]);
    await reach(replica, "0xa");
    for (const block of ["0x7", "0x8", "0x9", "0xa"]) await assertSame(block);
    assert.match(replica.stderr, /the feed's chain was reorganised/);
    assert.doesNotMatch(replica.stderr, /\bnode\b/);
  });

  test("a replica and a publisher that were away go on where they were", async () => {
    await replica.stop();
    await feed([{...createOther(11, {}), accounts: {[ONE]: {balance: "0x5"}}, finalized: "0x9"}]);
    await waitForMetric(publisher, "proofd_published_block 11");
    replica = await startReplica(folder.file("replica"));
    await reach(replica, "0xb");
    await waitForCoverage(replica, "finalized", "0x9");
    await assertSame("0xb");
    assert.match((await publisher.get("/readyz")).text, /^ready\n/);
  });

  test("a new replica begins with a snapshot, and one that the stream has left behind takes one again", async () => {
    await waitForMetric(publisher, "proofd_published_snapshot_block 11");
    // The last block, and what is finalized.
    await purge(2);

    // What an attempt before has left: a file of a store that is another one, and one that does not belong there.
    const first = folder.file("first");
    await mkdir(`${first}.taking`);
    await writeFile(join(`${first}.taking`, "CURRENT"), "MANIFEST-000009\n");
    await writeFile(join(`${first}.taking`, "junk"), "junk");
    const fresh = await startReplica(first, CHAIN_ID);
    await reach(fresh, "0xb");
    assert.match(fresh.stderr, /the snapshot is complete and verified/);
    const call = proofCall(1, OTHER, ["0x1"], "0x9");
    assert.deepEqual(await fresh.send(call), await publisher.send(call));
    await fresh.stop();

    // As a kill leaves it before the snapshot has the place of the store that was there.
    await rename(first, `${first}.taken`);
    await importLines(first, createLines(0, 3), {finalized: 3});
    const finishing = await startReplica(first);
    await reach(finishing, "0xb");
    assert.doesNotMatch(finishing.stderr, /downloading a snapshot/);
    await finishing.stop();

    const behind = folder.file("behind");
    await importLines(behind, createLines(0, 3), {finalized: 3});
    // As after any restart: LevelDB turns its log into a table.
    await (await openOwned(behind)).close();
    assert.ok((await readdir(behind)).some(name => name.endsWith(".ldb")));
    const again = await startReplica(behind);
    await again.waitForStderr(/the stream does not continue the store: a snapshot will replace it/);
    await reach(again, "0xb");
    assert.deepEqual(await again.send(call), await publisher.send(call));
    await again.stop();
    assert.deepEqual(
      (await readdir(folder.path)).filter(name => /taking|old|upload/.test(name)),
      [],
    );
  });

  test("a snapshot with another finalized block or block 0 than the store is refused, /readyz says why, and what one of the same chain lacks of finality is kept", async () => {
    const [zero] = createLines(0, 0) as [DifferenceLine];
    for (const [name, lines, finalized, reason] of [
      ["branch", createLines(0, 9), 8, /its block 8 is 0xf+8, and 0x[0-9a-f]+ is finalized here/],
      ["genesis", [{...zero, hash: OTHER_ZERO}], undefined, /its block 0 is .* begins with 0x0*bad\n/],
    ] as const) {
      const db = folder.file(name);
      await importLines(db, lines, {finalized});
      const refusing = await startReplica(db);
      await waitForReadiness(
        refusing,
        new RegExp(`not in the store[^]*The feed's snapshot of block 11 was refused: ${reason.source}`),
      );
      assert.equal((await refusing.get("/readyz")).status, 503);
      assert.match(refusing.stderr, /"msg":"the snapshot is refused: the store stays as it is"/);
      await reach(refusing, `0x${lines.length - 1}`);
      await refusing.stop();
      assert.ok(!(await readdir(folder.path)).includes(`${name}.taking`));
    }

    const further = await startReplica(folder.file("first"));
    await reach(further, "0xb");
    await further.engine.writes.finalize(11);
    await further.stop();
    await feed([createOther(12, {}), createOther(13, {})]);
    await waitForMetric(publisher, "proofd_published_snapshot_block 13");
    await purge(1);
    const again = await startReplica(folder.file("first"));
    await again.waitForStderr(/a snapshot will replace it/);
    await reach(again, "0xd");
    await waitForCoverage(again, "finalized", "0xb");
    await again.stop();
  });

  /** All messages but the last ones. */
  async function purge(keep: number): Promise<void> {
    const connection = await connect({servers: nats.url});
    await (await jetstreamManager(connection)).streams.purge("blocks", {keep});
    await connection.close();
  }

  function startReplica(db: string, chainId?: string): Promise<OwnService> {
    const flags = chainId === undefined ? [] : ["--chain-id", chainId];
    return OwnService.serve(["--db", db, "--allow-unverified", "--feed", nats.url, ...flags]);
  }
});
