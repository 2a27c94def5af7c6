/** Messages that lie, and publishers that meet in one stream: what a replica and a publisher make of them. */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {jetstream, jetstreamManager} from "@nats-io/jetstream";
import {connectNats, type NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {CHAIN_ID, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForCoverage, waitForMetric, waitForReadiness} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {importSource} from "../../support/stores/importedStore.ts";

const LAST = 5;
/** Places in a message of a block (docs/feed.md). */
const [CHAIN_AT, PARENT_AT, ROOT_AT] = [13, 52, 84];

describe("a feed with lies", () => {
  let lack: string | undefined;
  let folder: WorkFolder;
  let nats: NatsServer;
  let connection: NatsConnection;
  let publishers: OwnService[];

  before(async () => {
    lack = lacksNats();
    if (lack !== undefined) return;
    folder = await WorkFolder.create();
    nats = await NatsServer.start(folder.file("jetstream"));
    connection = await connectNats(settings(), "test", AbortSignal.timeout(60_000), () => {});
    publishers = [];
    for (const name of ["one", "other"])
      publishers.push(await OwnService.fed(folder.file(name), [...publishTo(nats.url), "--stream", "good"]));
  });

  after(async () => {
    if (lack !== undefined) return;
    for (const publisher of publishers) await publisher.stop();
    await connection.close();
    await nats.kill();
    await folder.remove();
  });

  function settings() {
    return {urls: [nats.url], credsPath: undefined};
  }

  /** The messages with blocks in the stream, in their order. */
  async function readBlocks(): Promise<{number: number; body: Uint8Array}[]> {
    const {direct, streams} = await jetstreamManager(connection);
    const {state} = await streams.info("good");
    const blocks = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await direct.getMessage("good", {seq});
      if (message === null || !message.subject.endsWith(".blocks")) continue;
      blocks.push({number: Buffer.from(message.data).readUIntBE(14, 6), body: message.data});
    }
    return blocks;
  }

  function waitForPublished(service: OwnService, block: number): Promise<void> {
    return waitForMetric(service, `proofd_published_block ${block}`);
  }

  test("of two publishers of one chain, every block comes once and in order, and of two branches one is refused by name", async t => {
    if (lack !== undefined) return notRun(t, lack);
    for (const line of createLines(0, LAST))
      for (const {input} of publishers) input.write(`${JSON.stringify(line)}\n`);
    for (const publisher of publishers) await waitForPublished(publisher, LAST);
    const numbers = (await readBlocks()).map(({number}) => number);
    assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5]);
    const [one, other] = publishers as [OwnService, OwnService];
    one.input.write(`${JSON.stringify(createLine(LAST + 1))}\n`);
    await waitForPublished(one, LAST + 1);
    const forked = {...createLine(LAST + 1), hash: `0x${"f6".repeat(32)}`};
    other.input.write(`${JSON.stringify(forked)}\n`);
    await waitForReadiness(other, /publishing is refused: the stream has another block 6 .* since block 5\n/);
    assert.equal((await readBlocks()).length, LAST + 2);
  });

  test("a replica takes blocks that its publisher could not verify only with --allow-unverified", async t => {
    if (lack !== undefined) return notRun(t, lack);
    const source = {kind: "feed", nats: settings(), stream: "good", client: "test"} as const;
    const rules = {allowUnverified: false, chainId: BigInt(CHAIN_ID)};
    const outcome = await importSource(folder.file("strict"), source, rules);
    assert.ok(!outcome.ok && outcome.isFinal);
    assert.match(
      outcome.message,
      /^block 0 is unverified: its publisher could not verify it\. --allow-unverified /,
    );
  });

  test("a message that lies stops a replica by name, it serves on, and goes on when the message is gone", async t => {
    if (lack !== undefined) return notRun(t, lack);
    const manager = await jetstreamManager(connection);
    await manager.streams.add({name: "bad", subjects: ["bad.>"], allow_direct: true});
    const send = async (body: Uint8Array): Promise<number> =>
      (await jetstream(connection).publish(`bad.${BigInt(CHAIN_ID)}.blocks`, body)).seq;
    const bodies = (await readBlocks()).map(({body}) => body);
    const change = (body: Uint8Array, at: number): Uint8Array => {
      const changed = Uint8Array.from(body);
      changed[at] = 1 ^ (changed[at] as number);
      return changed;
    };
    const from = ["--feed", nats.url, "--stream", "bad", "--chain-id", CHAIN_ID];
    const replica = await OwnService.serve(["--db", folder.file("replica"), "--allow-unverified", ...from]);
    const reach = async (block: number): Promise<void> => {
      await waitForCoverage(replica, "latest", `0x${block}`);
    };
    const bodyOf = (block: number): Uint8Array => bodies[block] as Uint8Array;
    await send(bodyOf(0));
    await reach(0);
    const lies: readonly (readonly [Uint8Array, RegExp])[] = [
      [change(bodyOf(1), ROOT_AT), /block 1.* state root/],
      [change(bodyOf(2), PARENT_AT), /block 2 of the feed follows block 0x[0-9a-f]{64}, but 0x/],
      [bodyOf(4), /goes on with block 4, but block 2 is the newest one held/],
      [change(bodyOf(4), CHAIN_AT), /expected chain 1337, got chain 1336/],
      [bodyOf(5).subarray(0, 20), /the message/],
    ];
    for (const [at, [lie, reason]] of lies.entries()) {
      const sequence = await send(lie);
      const failed = new RegExp(`^the import has failed: .*${reason.source}`, "m");
      await waitForReadiness(replica, failed);
      assert.equal((await replica.get("/readyz")).status, 503);
      const {result} = await replica.call("chain_getStateRoot", ["0x0"]);
      assert.equal(result.number, "0x0");
      await manager.streams.deleteMessage("bad", sequence);
      await send(bodyOf(at + 1));
      await reach(at + 1);
    }
    assert.doesNotMatch((await replica.get("/readyz")).text, /the import has failed/);
    for (let block = 0; block <= LAST; block++) {
      const params = [`0x${block}`];
      const {result} = await replica.call("chain_getStateRoot", params);
      const published = await (publishers[0] as OwnService).call("chain_getStateRoot", params);
      assert.equal(result.stateRoot, published.result.stateRoot);
    }
    await replica.stop();
  });
});
