/** Messages that lie, and publishers that meet in one stream: what a replica and a publisher make of them. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {jetstream, jetstreamManager} from "@nats-io/jetstream";
import {headers} from "@nats-io/transport-node";
import {encodeHead} from "../../../nodes/feed/feedMessage.ts";
import {FeedStream} from "../../../nodes/feed/feedStream.ts";
import type {NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {Publisher} from "../../../server/lifecycle/publishing/publisher.ts";
import type {ChainView} from "../../../workers/chain/chainView.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import {createMixedLine} from "../../support/chains/mixedLines.ts";
import {CHAIN_ID, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForCoverage, waitForMetric, waitForReadiness} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {describeNeeding} from "../../support/processes/notRun.ts";
import {importLines, importSource, openEngine} from "../../support/stores/importedStore.ts";

const CHAIN = {suite: "sha256", chainId: BigInt(CHAIN_ID)};
const LAST = 5;
/** Places in the head of a block (nodes/feed/feedMessage.ts). */
const [CHAIN_AT, NUMBER_AT, PARENT_AT, ROOT_AT] = [13, 30, 68, 100];

interface Raw {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
}

describeNeeding(lacksNats(), "a feed with lies", () => {
  const folder = new WorkFolder();
  let nats: NatsServer;
  let connection: NatsConnection;
  let publishers: OwnService[];

  before(async () => {
    nats = await NatsServer.start(folder.file("jetstream"));
    connection = await nats.connect();
    publishers = [];
    for (const name of ["one", "other"])
      publishers.push(await OwnService.fed(folder.file(name), [...publishTo(nats.url), "--stream", "good"]));
  });

  after(async () => {
    for (const publisher of publishers) await publisher.stop();
    await connection.close();
    await nats.kill();
  });

  function openStream(name: string): Promise<FeedStream> {
    const rules = {replicas: 1, maxAgeMs: 3_600_000, maxBytes: 10_000_000};
    return FeedStream.open(connection, name, CHAIN, rules);
  }

  async function readBlocks(): Promise<(Raw & {readonly number: number})[]> {
    const {direct, streams} = await jetstreamManager(connection);
    const {state} = await streams.info("good");
    const blocks = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await direct.getMessage("good", {seq});
      if (message === null || !message.subject.endsWith(".blocks")) continue;
      const head = Buffer.from(message.header.get("Proofd"), "base64");
      blocks.push({number: head.readUIntBE(NUMBER_AT, 6), head, body: message.data});
    }
    return blocks;
  }

  async function assertPublished(...numbers: number[]): Promise<void> {
    assert.deepEqual(
      (await readBlocks()).map(({number}) => number),
      numbers,
    );
  }

  function waitForPublished(service: OwnService, block: number): Promise<void> {
    return waitForMetric(service, `proofd_published_block ${block}`);
  }

  function waitForState(service: OwnService, state: string): Promise<void> {
    return waitForMetric(service, `proofd_publish_state{state="${state}"} 1`);
  }

  test("of two publishers of one chain, every block comes once and in order, and of two branches the higher one is published with its parents", async () => {
    const [one, other] = publishers as [OwnService, OwnService];
    for (const line of createLines(0, LAST))
      for (const {input} of publishers) input.write(`${JSON.stringify(line)}\n`);
    for (const publisher of publishers) await waitForPublished(publisher, LAST);
    await assertPublished(0, 1, 2, 3, 4, 5);
    const fork = (number: number) => ({
      ...createLine(number),
      hash: `0x${number.toString(16).padStart(64, "f")}`,
      parentHash: number === 6 ? createLine(5).hash : `0x${(number - 1).toString(16).padStart(64, "f")}`,
    });
    one.input.write(`${JSON.stringify(createLine(6))}\n`);
    await waitForPublished(one, 6);
    other.input.write(`${JSON.stringify(fork(6))}\n`);
    await waitForState(other, "behind");
    await assertPublished(0, 1, 2, 3, 4, 5, 6);
    other.input.write(`${JSON.stringify(fork(7))}\n`);
    await waitForPublished(other, 7);
    await assertPublished(0, 1, 2, 3, 4, 5, 6, 6, 7);
    await waitForState(one, "behind");
    one.input.write(`${JSON.stringify(createLine(7))}\n${JSON.stringify(createLine(8))}\n`);
    await waitForPublished(one, 8);
    await assertPublished(0, 1, 2, 3, 4, 5, 6, 6, 7, 6, 7, 8);
    await waitForState(other, "behind");
  });

  test("a lower branch waits until the other publisher was silent for 10 s, and for twice as long each time that it came back", async () => {
    const stream = await openStream("patience");
    let nowMs = 0;
    const create = (of: number, id: number) =>
      new Publisher(Buffer.alloc(16, id), (publishers[of] as OwnService).engine.chain, () => nowMs);
    const [high, low, twin] = [create(0, 1), create(1, 2), create(1, 3)];
    const step = async (publisher: Publisher): Promise<number | string> => {
      publisher.look();
      const {kind, block} = await publisher.catchUp(stream, new AbortController().signal);
      return kind === "published" ? block : kind;
    };
    const assertPatience = async (publisher: Publisher, seconds: number): Promise<void> => {
      assert.equal(await step(publisher), "behind");
      nowMs += 1000 * seconds - 1;
      assert.equal(await step(publisher), "behind");
      nowMs++;
      assert.equal(await step(publisher), 7);
    };
    assert.equal(await step(high), 8);
    for (const seconds of [10, 20, 40, 80, 160, 320, 600, 600]) {
      await assertPatience(low, seconds);
      assert.equal(await step(high), 8);
    }
    // Somebody else speaks for the lower branch, too.
    await assertPatience(twin, 10);
    assert.equal(await step(low), 7);
    assert.equal(await step(high), 8);
    await assertPatience(low, 10);
  });

  test("finality of blocks that the stream never had stops no publisher, and the true one comes after it", async () => {
    const stream = await openStream("finality");
    let nowMs = 0;
    const create = ({chain}: Engine, id: number) => new Publisher(Buffer.alloc(16, id), chain, () => nowMs);
    const step = (publisher: Publisher) => {
      publisher.look();
      return publisher.catchUp(stream, new AbortController().signal);
    };
    const say = async (number: number, hash: Uint8Array): Promise<void> => {
      const head = {kind: "finality", publisher: Buffer.alloc(16), number, hash, first: 0, count: 0} as const;
      await stream.publish(head, Buffer.of(1), (await stream.readTip()).lastSequence);
    };
    await importLines(folder.file("final"), createLines(0, LAST), {keepsChanges: true, finalized: 2});
    const final = await openEngine(folder.file("final"));
    const [high, low] = publishers.map(({engine}, at) => create(engine, 1 + at)) as [Publisher, Publisher];
    await step(high);
    for (const number of [6, 2 ** 40]) {
      await say(number, Buffer.alloc(32, 7));
      assert.equal((await step(low)).kind, "behind");
      nowMs += 3_600_000;
      assert.equal((await step(low)).kind, "published");
      assert.equal((await step(high)).kind, "published");
    }
    // A block of its own branch.
    await say(7, (publishers[0] as OwnService).engine.chain.readHash(7) as Uint8Array);
    assert.equal((await step(low)).kind, "behind");
    nowMs += 3_600_000;
    await assert.rejects(step(low), /the stream calls another block 7 finalized than the one in the store/);

    const other = await openStream("said");
    const publisher = create(final, 3);
    await publisher.catchUp(other, new AbortController().signal);
    const {lastSequence, finality} = await other.readTip();
    const {head} = finality as NonNullable<typeof finality>;
    assert.equal(head.number, 2);
    await other.publish({...head, number: 2 ** 40}, Buffer.of(1), lastSequence);
    publisher.look();
    await publisher.catchUp(other, new AbortController().signal);
    assert.deepEqual((await other.readTip()).finality?.head, head);
    await final.close();
  });

  test("a replica takes blocks that its publisher could not verify only with --allow-unverified", async () => {
    const source = {kind: "feed", nats: nats.settings, stream: "good", client: "test"} as const;
    const rules = {allowUnverified: false, chainId: BigInt(CHAIN_ID)};
    const outcome = await importSource(folder.file("strict"), source, rules);
    assert.ok(!outcome.ok && outcome.isFinal);
    assert.match(
      outcome.message,
      /^block 0 is unverified: its publisher could not verify it\. --allow-unverified /,
    );
  });

  test("a block whose changes do not give its header's root stops a replica that holds the state trie, though its publisher says that it is verified", async () => {
    const {lines} = await headLines([0, 1, 2].map(number => createMixedLine(number)));
    const [first, second] = lines as [DifferenceLine, DifferenceLine];
    const lie = {...second, accounts: {...second.accounts, [`0x${"66".repeat(20)}`]: {balance: "0x1"}}};
    // Without the trie nobody finds the lie.
    const {header: _, ...bare} = first;
    const keep = async (name: string, kept: readonly DifferenceLine[]) => {
      const db = folder.file(name);
      await importLines(db, kept, {keepsChanges: true});
      return openEngine(db);
    };
    const [truth, lies] = [await keep("truth", lines), await keep("lies", [bare, lie])];
    const stream = await openStream("headed");
    let after = 0;
    const send = async ({chain}: Engine, number: number): Promise<void> => {
      const {packed, ...block} = chain.readKept(number) as NonNullable<ReturnType<ChainView["readKept"]>>;
      assert.ok(packed);
      const parts = {part: 0, parts: 1, unpackedBytes: packed.readUInt32BE()};
      const head = {
        kind: "block",
        publisher: Buffer.alloc(16),
        ...block,
        isVerified: true,
        ...parts,
      } as const;
      after = await stream.publish(head, packed.subarray(4), after);
    };
    await send(truth, 0);
    const replica = await OwnService.serve([
      ...["--db", folder.file("headed"), "--chain-id", CHAIN_ID, "--feed", nats.url, "--stream", "headed"],
    ]);
    await waitForCoverage(replica, "latest", "0x0");
    await send(lies, 1);
    await replica.waitForStderr(/block 1: expected state root 0x\w+ as in its header, its changes give/);
    for (const number of [1, 2]) await send(truth, number);
    await waitForCoverage(replica, "latest", "0x2");
    for (const service of [replica, truth, lies])
      await ("stop" in service ? service.stop() : service.close());
  });

  test("a message that lies stops a replica by name, it serves on, and goes on with the next one that does not", async () => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({name: "bad", subjects: ["bad.>"], allow_direct: true});
    const send = async ({head, body}: Raw, kind = "blocks"): Promise<void> => {
      const given = headers();
      given.set("Proofd", Buffer.from(head).toString("base64"));
      await jetstream(connection).publish(`bad.${BigInt(CHAIN_ID)}.${kind}`, body, {headers: given});
    };
    const blocks = await readBlocks();
    const change = (block: number, at: number): Raw => {
      const {head, body} = blocks[block] as Raw;
      const changed = Uint8Array.from(head);
      changed[at] = 1 ^ (changed[at] as number);
      return {head: changed, body};
    };
    const replica = await OwnService.serve([
      ...["--db", folder.file("replica"), "--allow-unverified", "--chain-id", CHAIN_ID],
      ...["--feed", nats.url, "--stream", "bad"],
    ]);
    const reach = async (block: number): Promise<void> => {
      await waitForCoverage(replica, "latest", `0x${block}`);
    };
    const bodyOf = (block: number): Uint8Array => (blocks[block] as Raw).body;
    await send(blocks[0] as Raw);
    await reach(0);
    const lies: readonly (readonly [Raw, RegExp])[] = [
      [change(1, ROOT_AT), /block 1.* state root/],
      [
        change(2, PARENT_AT),
        /continues with block 2, but its parent is not in the store, and block 1 is the newest one/,
      ],
      [
        blocks[4] as Raw,
        /continues with block 4, but its parent is not in the store, and block 2 is the newest one/,
      ],
      [change(4, CHAIN_AT), /expected chain 1337, got chain 1336/],
      [{...(blocks[5] as Raw), body: bodyOf(5).subarray(0, 20)}, /block 5: its changes do not unpack/],
      [{head: Buffer.from("PF"), body: bodyOf(5)}, /the message: expected at least 3 bytes, got 2/],
    ];
    for (const [at, [lie, reason]] of lies.entries()) {
      const said = replica.stderr.length;
      await send(lie);
      await replica.until(`a log line with ${reason}`, () =>
        new RegExp(`the import failed.*${reason.source}|${reason.source}.*the import failed`).test(
          replica.stderr.slice(said),
        ),
      );
      const {result} = await replica.call("chain_getStateRoot", ["0x0"]);
      assert.equal(result.number, "0x0");
      await send(blocks[Math.min(at + 1, LAST)] as Raw);
      await reach(Math.min(at + 1, LAST));
    }
    await waitForMetric(replica, 'proofd_source_state{state="following"} 1');
    const {result: last} = await replica.call("chain_getStateRoot", [`0x${LAST}`]);
    for (const [number, hash] of [
      [2 ** 40, Buffer.alloc(32, 7)],
      [LAST, Buffer.from(last.hash.slice(2), "hex")],
    ] as const) {
      const lie = {kind: "finality", publisher: Buffer.alloc(16), number, hash, first: 0, count: 1} as const;
      const head = Buffer.from(encodeHead(CHAIN, lie), "base64");
      await send({head, body: Buffer.of(1)}, "finality");
    }
    await replica.waitForStderr(
      /the import failed.*the finality message: expected|the finality message: expected.*the import failed/,
    );
    await send(blocks[LAST + 1] as Raw);
    await reach(LAST + 1);
    await waitForReadiness(replica, /^(?![\s\S]*the import has failed)/);
    for (let block = 0; block <= LAST; block++) {
      const params = [`0x${block}`];
      const {result} = await replica.call("chain_getStateRoot", params);
      const published = await (publishers[0] as OwnService).call("chain_getStateRoot", params);
      assert.equal(result.stateRoot, published.result.stateRoot);
    }
    await replica.stop();
  });
});
