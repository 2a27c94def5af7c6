/**
 * Three brokers, two publishers and three replicas, while the chain takes new branches and returns to earlier ones, and one of them after the
 * other is killed or stands still. SOAK=60 takes some two hours.
 */
import assert from "node:assert/strict";
import "../support/processes/testProcess.ts";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import type {DifferenceLine} from "../support/chains/differenceLine.ts";
import {createMixedLine} from "../support/chains/mixedLines.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {lacksNats, NatsServer} from "../support/nats/natsServer.ts";
import {TrieLogNode} from "../support/nodes/trieLogNode.ts";
import {type Daemon, startDaemon} from "../support/processes/daemon.ts";
import {notRun} from "../support/processes/notRun.ts";
import {propertyRuns} from "../support/soak.ts";

const ROUNDS = propertyRuns(8);
const CHAIN_ID = 1337n;
const PUBLISHERS = 2;
const REPLICAS = 3;
/** Blocks of a branch, at most. Older ones are final. */
const DEPTH = 12;
/** How long something stands still or is away: longer than the feed takes to notice. */
const AWAY_MS = 5000;
/** Once everything is back. */
const MOST_WAIT_MS = 10_000;

let lack: string | undefined;
let folder: WorkFolder;
let brokers: NatsServer[];
let node: TrieLogNode;
const services: Daemon[] = [];
/** Chains that the node had, the present one last. */
let chains: (readonly DifferenceLine[])[];
let branches = 0;

before(async () => {
  lack = lacksNats();
  if (lack !== undefined) return;
  folder = await WorkFolder.create();
  brokers = await NatsServer.startCluster(["n1", "n2", "n3"].map(name => folder.file(name)));
  const started = await TrieLogNode.start([0, 1, 2].map(n => createMixedLine(n)));
  node = started.node;
  node.chainId = CHAIN_ID;
  chains = [started.lines];
  for (let at = 0; at < PUBLISHERS + REPLICAS; at++) services.push(await start(at));
});

after(async () => {
  if (lack !== undefined) return;
  await Promise.all(services.map(one => one.stop()));
  await Promise.all([...brokers.map(one => one.kill()), node.stop()]);
  await folder.remove();
});

function start(at: number): Promise<Daemon> {
  const urls = brokers.map(({url}) => url).join(",");
  const flags = ["--db", folder.file(`db-${at}`), "--workers", "1", "--chain-id", String(CHAIN_ID)];
  const l2 = ["--l2", node.url.href, "--source", "trielogs", "--finality", "tag", "--snapshot-every", "40"];
  const source = at < PUBLISHERS ? [...l2, "--publish", urls, "--stream-gb", "1"] : ["--feed", urls];
  return startDaemon([...flags, ...source], {tuning: {}});
}

/** The chain goes on, takes a new branch, or returns to one that it had; each time it is higher than before. */
async function changeChain(): Promise<string> {
  const now = chains.at(-1) as readonly DifferenceLine[];
  const height = now.length + 1 + Math.floor(3 * Math.random());
  const kind = Math.random();
  const earlier = chains.filter(one => one !== now && forkOf(one, now) > height - DEPTH);
  let base = now;
  if (kind < 0.4 && earlier.length > 0)
    base = earlier[Math.floor(earlier.length * Math.random())] as typeof now;
  else if (kind < 0.8) {
    base = now.slice(0, Math.max(node.finalized + 1, now.length - 1 - Math.floor(6 * Math.random())));
    branches++;
  }
  const added = Array.from({length: height - base.length}, (_, at) =>
    createMixedLine(base.length + at, branches),
  );
  chains.push(await node.load([...base, ...added]));
  chains = chains.slice(-6);
  node.finalized = Math.max(
    node.finalized,
    Math.min(...chains.map(one => forkOf(one, chains.at(-1) ?? one))) - DEPTH,
  );
  return base === now ? "goes on" : earlier.includes(base) ? "returns" : "branches";
}

/** @returns how many blocks two chains share */
function forkOf(one: readonly DifferenceLine[], other: readonly DifferenceLine[]): number {
  const at = one.findIndex(({hash}, number) => hash !== other[number]?.hash);
  return at === -1 ? one.length : at;
}

/** Kills one of them or makes it stand still, and brings it back. @returns what it was */
async function trouble(round: number): Promise<{readonly name: string; mend(): Promise<void>}> {
  const isKilled = Math.random() < 0.5;
  const at = round % (brokers.length + services.length);
  const how = isKilled ? "SIGKILL" : "SIGSTOP";
  if (at < brokers.length) {
    const broker = brokers[at] as NatsServer;
    if (isKilled) await broker.kill();
    else broker.send("SIGSTOP");
    return {
      name: `broker ${at} ${how}`,
      mend: async () => (isKilled ? broker.start() : broker.send("SIGCONT")),
    };
  }
  const index = at - brokers.length;
  const service = services[index] as Daemon;
  if (isKilled) await service.stop("SIGKILL");
  else service.child.kill("SIGSTOP");
  const mend = async () => {
    if (isKilled) services[index] = await start(index);
    else service.child.kill("SIGCONT");
  };
  return {name: `${index < PUBLISHERS ? "publisher" : "replica"} ${index} ${how}`, mend};
}

async function reachAll(): Promise<void> {
  const {number, hash} = (chains.at(-1) as readonly DifferenceLine[]).at(-1) as DifferenceLine;
  await Promise.all(
    services.map(service =>
      service.until(`block ${number} ${hash}`, async () => {
        const {result} = await service.call("chain_getStateRoot", [number]);
        return result?.hash === hash;
      }),
    ),
  );
}

async function assertSame(): Promise<void> {
  const chain = chains.at(-1) as readonly DifferenceLine[];
  for (const {number, hash} of chain.slice(-2 * DEPTH)) {
    const answers = await Promise.all(services.map(one => one.call("chain_getStateRoot", [number])));
    const roots = answers.map(({result}) => `${result?.hash} ${result?.stateRoot}`);
    assert.deepEqual([...new Set(roots)], [`${hash} ${answers[0].result.stateRoot}`]);
  }
  for (const service of services) assert.doesNotMatch((await service.get("/readyz")).text, /has failed/);
}

test("whatever is killed or stands still while the chain returns to earlier branches, all end with equal roots, and soon", async t => {
  if (lack !== undefined) return notRun(t, lack);
  await reachAll();
  const late: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const {name, mend} = await trouble(round);
    const kinds = [await changeChain()];
    await pause(AWAY_MS * Math.random());
    kinds.push(await changeChain());
    await pause(AWAY_MS * Math.random());
    await mend();
    for (const broker of brokers) await broker.catchUp();
    const startMs = performance.now();
    await reachAll();
    const ms = Math.round(performance.now() - startMs);
    const said = `round ${round}: ${name}, the chain ${kinds.join(" and ")}: ${ms} ms`;
    t.diagnostic(said);
    if (ms > MOST_WAIT_MS) late.push(said);
    await assertSame();
  }
  assert.deepEqual(late, []);
});
