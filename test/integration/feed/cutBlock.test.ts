/** A publisher that was killed between two messages of one block, and servers that take small messages only. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import type {BlockHead} from "../../../nodes/feed/feedMessage.ts";
import {FeedStream, type Sequenced} from "../../../nodes/feed/feedStream.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {ACCOUNTS, CHAIN_ID, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForMetric, waitForReadiness} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {describeNeeding} from "../../support/processes/notRun.ts";
import {waitUntil} from "../../support/wait.ts";

const CHAIN = {suite: "sha256", chainId: BigInt(CHAIN_ID)};
const LARGE = 2;
/** With their values, some 550 KB that do not shrink. */
const SLOTS = 9_000;

function createLarge() {
  const word = (text: string) => `0x${createHash("sha256").update(text).digest("hex")}`;
  const storage: Record<string, string> = {};
  for (let at = 0; at < SLOTS; at++) storage[word(`slot ${at}`)] = word(`value ${at}`);
  return {...createLine(LARGE, LARGE), accounts: {[ACCOUNTS[0] as string]: {storage}}};
}

async function withServer(
  config: string,
  body: (nats: NatsServer, folder: WorkFolder, stream: () => Promise<FeedStream>) => Promise<void>,
): Promise<void> {
  const folder = new WorkFolder();
  await writeFile(folder.file("nats.conf"), config);
  const nats = await NatsServer.start(folder.file("jetstream"), ["-c", folder.file("nats.conf")]);
  const connection = await nats.connect();
  const rules = {replicas: 1, maxAgeMs: 3_600_000, maxBytes: 100_000_000};
  await body(nats, folder, () => FeedStream.open(connection, "blocks", CHAIN, rules));
  await connection.close();
  await nats.kill();
}

describeNeeding(lacksNats(), "a feed whose messages or connection are cut", () => {
  test("a block whose last messages were never sent is sent again whole, in messages of 64 KB where the server takes no more, and a replica takes it once", async () => {
    await withServer("max_payload: 64KB\n", async (nats, folder, open) => {
      const stream = await open();
      const replica = await OwnService.serve([
        ...["--db", folder.file("replica"), "--allow-unverified", "--feed", nats.url, "--chain-id", CHAIN_ID],
      ]);
      const publish = async (lines: readonly DifferenceLine[]): Promise<OwnService> => {
        const [db, path] = [folder.file("db"), folder.file("lines")];
        await writeFile(path, encodeLines(lines));
        const flags = ["--db", db, "--diffs", path, "--allow-unverified", "--snapshot-every", "0"];
        const publisher = await OwnService.serve([...flags, ...publishTo(nats.url)]);
        await waitForMetric(publisher, `proofd_published_block ${lines.length - 1}`);
        return publisher;
      };
      await (await publish(createLines(0, LARGE - 1))).stop();
      // What it had sent of the next block when it was killed: the first of two messages.
      const {lastSequence, block} = await stream.readTip();
      const {head} = block as Sequenced<BlockHead>;
      const cut = {...head, number: LARGE, parentHash: head.hash, hash: Buffer.alloc(32, 1), parts: 2};
      await stream.publish({...cut, unpackedBytes: 100}, Buffer.alloc(10), lastSequence);
      const publisher = await publish([...createLines(0, LARGE - 1), createLarge()]);
      await waitForMetric(replica, `proofd_head_block{which="finalized"} ${LARGE}`);
      const root = ["chain_getStateRoot", ["0x2"]] as const;
      assert.deepEqual((await replica.call(...root)).result, (await publisher.call(...root)).result);
      const heads = await stream.readHeads(1, lastSequence + 1000, new AbortController().signal);
      const parts = heads.flatMap(({head}) => (head.kind === "block" ? [`${head.number}.${head.part}`] : []));
      const large = Array.from({length: parts.length - 3}, (_, part) => `${LARGE}.${part}`);
      assert.deepEqual(parts, ["0.0", "1.0", "2.0", ...large]);
      assert.ok(large.length > 8, `${large.length} messages`);
      await replica.stop();
      await publisher.stop();
    });
  });

  test("a server that takes no message large enough for a feed is refused by name", async () => {
    await withServer("max_payload: 4KB\n", async (nats, folder) => {
      const publisher = await OwnService.fed(folder.file("db"), publishTo(nats.url));
      publisher.input.write(`${JSON.stringify(createLine(0))}\n`);
      await waitForReadiness(
        publisher,
        /publishing is refused: the NATS server takes messages of 4096 bytes at most/,
      );
      await publisher.stop();
    });
  });

  test("while a lost connection to NATS is being made again, the largest message is unknown, not 0 bytes", async () => {
    await withServer("", async (nats, _, open) => {
      const stream = await open();
      const readName = (): string => {
        try {
          return `${stream.bodyBytes}`;
        } catch (error) {
          return (error as Error).name;
        }
      };
      assert.equal(readName(), "524288");
      await nats.kill();
      await waitUntil("the loss to be seen", () => readName() !== "524288");
      assert.equal(readName(), "NatsAway");
      await nats.start();
      await waitUntil("the server to be back", () => readName() === "524288");
    });
  });
});
