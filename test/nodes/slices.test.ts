/**
 * Slices of a chain beside a geth that prunes, against another that keeps all states. The tests run in this order on one
 * chain.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {ENGINE_CHAIN_ID} from "../support/chains/engineGenesis.ts";
import {FEW, MANY, NONE, OTHER, quantity, SlicedChain, word} from "../support/chains/slicedChain.ts";
import {waitForMetric} from "../support/http/followingDaemon.ts";
import {ForgetfulNode} from "../support/http/forgetfulNode.ts";
import {OwnService} from "../support/http/ownService.ts";
import {lacksNats, NatsServer, publishTo} from "../support/nats/natsServer.ts";
import {notRun} from "../support/processes/notRun.ts";
import {propertyRuns} from "../support/soak.ts";

const CONTRACTS = [MANY, FEW, NONE];
const SLICES = ["--contracts", CONTRACTS.join(",")];
const START = 5;

let sliced: SlicedChain;
let daemon: OwnService;

before(async () => {
  sliced = await SlicedChain.create({cancun: 1, prague: 2, osaka: 3}, START);
  daemon = await serve("slices.db", sliced.pruned.url, "--slice-fetches", "10000", ...SLICES);
});

after(async () => {
  await daemon?.stop();
  await sliced?.chain.stop();
});

function serve(db: string, node: string, ...flags: readonly string[]): Promise<OwnService> {
  return OwnService.serve(["--db", sliced.chain.file(db), "--l2", node, "--finality", "tag", ...flags]);
}

test("it begins at the node's head, without a genesis file, and proves the contracts' accounts there", async () => {
  await sliced.follow(daemon);
  for (const contract of CONTRACTS)
    assert.equal(await sliced.compare(daemon, START, contract, []), undefined);
  assert.match((await sliced.compare(daemon, START, OTHER, [])) as string, /not in the store/);
  const {ranges} = (await daemon.call("chain_getCoverage")).result;
  assert.deepEqual(ranges, [[quantity(START), quantity(sliced.height)]]);
});

test("every slot is proved at every block as the archive node proves it, written since the start or not", async () => {
  await sliced.seal(60);
  await sliced.follow(daemon);
  const times = propertyRuns(400);
  assert.equal(await sliced.compareRandomly(daemon, times, START), times);
});

test("a slot that was fetched once is proved without the node, another one is refused", async () => {
  const unwritten = Array.from({length: 1700}, (_, slot) => word(slot)).filter(
    slot => !sliced.written.has(`${MANY} ${slot}`),
  );
  const [first, second] = [unwritten.slice(0, 100), unwritten.slice(-100)];
  assert.equal(await sliced.compare(daemon, START, MANY, first), undefined);
  await daemon.stop();
  daemon = await serve("slices.db", sliced.pruned.url, "--slice-fetches", "0");
  for (const block of [START, START + 20, sliced.height])
    assert.equal(await sliced.compare(daemon, block, MANY, first), undefined);
  assert.match(
    (await sliced.compare(daemon, START, MANY, second)) as string,
    /is not in the store: .*--slice-fetches 0/,
  );
});

test("a replica gets the slices of its publisher over NATS, with a reorganisation and a gap", async t => {
  const lack = lacksNats();
  if (lack !== undefined) return notRun(t, lack);
  await daemon.stop();
  const {chain, archive} = sliced;
  const nats = await NatsServer.start(chain.file("jetstream"));
  t.after(() => nats.kill());
  const short = await ForgetfulNode.before(archive.url);
  t.after(() => short.stop());
  const chainId = ["--chain-id", quantity(ENGINE_CHAIN_ID)];
  const publish = (): Promise<OwnService> =>
    serve("published.db", short.url, ...publishTo(nats.url), "--snapshot-every", "1", ...chainId, ...SLICES);
  daemon = await publish();
  const first = sliced.height;
  await sliced.follow(daemon);
  await waitForMetric(daemon, `proofd_published_snapshot_block ${first}`);
  const flags = ["--suite", "keccak", "--allow-unverified", "--feed", nats.url, ...chainId];
  const replica = await OwnService.serve(["--db", chain.file("replica.db"), ...flags]);
  t.after(() => replica.stop());
  await sliced.waitFor(replica);
  sliced.written.clear();
  await sliced.seal(10);
  await sliced.replace(daemon, 4);
  await sliced.follow(replica);
  assert.match(replica.stderr, /the feed's chain was reorganised/);
  const before = sliced.height;
  const written = [...sliced.written];
  sliced.written.clear();
  await daemon.stop();
  for (let i = 0; i < 30; i++) await chain.seal({});
  short.firstState = sliced.height - 10;
  daemon = await publish();
  await sliced.seal(10);
  await sliced.follow(daemon);
  await sliced.follow(replica);
  await assertSame(replica, first, before, written);
  await assertSame(replica, before, sliced.height, sliced.written);
  const params = [MANY, [], quantity(before + 1)];
  assert.match((await replica.call("eth_getProof", params)).error.message, /is in a gap of the slices/);
});

/** @param written - from block `from` to `block`: the replica has no node to fetch others from */
async function assertSame(
  replica: OwnService,
  from: number,
  block: number,
  written: Iterable<string>,
): Promise<void> {
  for (const one of written) {
    const [contract = "", slot] = one.split(" ");
    if (contract === OTHER) continue;
    const params = [contract, [slot], quantity(block)];
    const {result, error} = await replica.call("eth_getProof", params);
    if (error !== undefined) {
      // A 0 was written where there was none, so no block changed the slot.
      for (let at = from; at <= block; at++)
        assert.equal(
          BigInt((await sliced.archive.request("eth_getStorageAt", contract, slot, quantity(at))) as string),
          0n,
          error.message,
        );
      continue;
    }
    assert.deepEqual(result, (await daemon.call("eth_getProof", params)).result);
    assert.deepEqual(result, await sliced.archive.request("eth_getProof", ...params));
  }
}
