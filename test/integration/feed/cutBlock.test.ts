/** A publisher that was killed between two messages of one block. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {FeedStream} from "../../../nodes/feed/feedStream.ts";
import {connectNats} from "../../../nodes/feed/natsConnection.ts";
import {ACCOUNTS, CHAIN_ID, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForMetric} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const CHAIN = {suite: "sha256", chainId: BigInt(CHAIN_ID)};
const LARGE = 2;
/** With their values, some 550 KB that do not shrink: more than one message. */
const SLOTS = 9_000;

function createLarge() {
  const word = (text: string) => `0x${createHash("sha256").update(text).digest("hex")}`;
  const storage: Record<string, string> = {};
  for (let at = 0; at < SLOTS; at++) storage[word(`slot ${at}`)] = word(`value ${at}`);
  return {...createLine(LARGE), accounts: {[ACCOUNTS[0] as string]: {storage}}};
}

test("a block whose last messages were never sent is sent again whole, and a replica takes it once", async t => {
  const lack = lacksNats();
  if (lack !== undefined) return notRun(t, lack);
  const folder = await WorkFolder.create();
  const nats = await NatsServer.start(folder.file("jetstream"));
  const db = folder.file("db");
  await importLines(db, [...createLines(0, LARGE - 1), createLarge()], {finalized: LARGE});
  const settings = {urls: [nats.url], credsPath: undefined};
  const connection = await connectNats(settings, "test", AbortSignal.timeout(60_000), () => {});
  const rules = {replicas: 1, maxAgeMs: 3_600_000, maxBytes: 100_000_000};
  const stream = await FeedStream.open(connection, "blocks", CHAIN, rules);

  // What the killed one had sent: all but the last message.
  const killed = await OwnService.serve(["--db", db]);
  let after = 0;
  let parts = 0;
  for (let block = 0; block <= LARGE; block++) {
    const answer = await killed.engine.encodeFeedBlock({chain: CHAIN, block});
    assert.ok("bodies" in answer);
    parts = answer.bodies.length;
    const sent = block < LARGE ? answer.bodies : answer.bodies.slice(0, -1);
    for (const [part, body] of sent.entries())
      after = await stream.publish("blocks", body, `${block}.${part}`, after);
  }
  assert.ok(parts > 1, `${parts} messages`);
  await killed.stop();

  const replica = await OwnService.serve([
    ...["--db", folder.file("replica"), "--allow-unverified", "--feed", nats.url, "--chain-id", CHAIN_ID],
  ]);
  const publisher = await OwnService.serve(["--db", db, ...publishTo(nats.url), "--snapshot-every", "0"]);
  await waitForMetric(replica, 'proofd_head_block{which="finalized"} 2');
  const root = ["chain_getStateRoot", ["0x2"]] as const;
  assert.deepEqual((await replica.call(...root)).result, (await publisher.call(...root)).result);
  const ends: string[] = [];
  for (let sequence = 1; ; sequence++) {
    const message = (await stream.blockAt(sequence))?.message;
    if (message === undefined) break;
    if (message.kind === "block") ends.push(`${message.number}.${message.part}`);
  }
  const large = Array.from({length: parts}, (_, part) => `${LARGE}.${part}`);
  assert.deepEqual(ends, ["0.0", "1.0", ...large.slice(0, -1), ...large]);
  await replica.stop();
  await publisher.stop();
  await connection.close();
  await nats.kill();
  await folder.remove();
});
