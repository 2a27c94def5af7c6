/**
 * A publisher, three nats-servers, two replicas and HAProxy, each a process of its own. All that can fail does, while clients ask for
 * proofs:
 *
 *   TrieLogNode -> publisher -> n1 n2 n3 -> replica, cut lines -> replica -> HAProxy -> clients
 */
import assert from "node:assert/strict";
import "../../support/processes/testProcess.ts";
import type {ClientHttp2Session} from "node:http2";
import {type AddressInfo, connect, createServer, type Server, type Socket} from "node:net";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {FeedStream} from "../../../nodes/feed/feedStream.ts";
import {connectNats} from "../../../nodes/feed/natsConnection.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {createMixedLine} from "../../support/chains/mixedLines.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {proofAtCall} from "../../support/http/wireRequests.ts";
import {lacksNats, NatsServer, publishTo} from "../../support/nats/natsServer.ts";
import {TrieLogNode} from "../../support/nodes/trieLogNode.ts";
import {type Daemon, startDaemon} from "../../support/processes/daemon.ts";
import {ask, Edge, lacksHaproxy} from "../../support/processes/edge.ts";
import {findPorts} from "../../support/processes/freePorts.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";
import {propertyRuns} from "../../support/soak.ts";
import {once, waitUntil} from "../../support/wait.ts";

class CutLine {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(private readonly target: number) {
    this.server = createServer(socket => this.join(socket));
  }

  /** @param target - the port that the line leads to */
  static async to(target: number): Promise<CutLine> {
    const line = new CutLine(target);
    line.server.listen(0, "127.0.0.1");
    await once(line.server, "listening");
    return line;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** From now on nothing goes through. Connections stay open and silent, and so do new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) silence(socket);
  }

  /** New connections go through again. The old ones stay silent for ever. */
  heal(): void {
    this.isCut = false;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  private join(socket: Socket): void {
    this.keep(socket);
    if (this.isCut) {
      silence(socket);
      return;
    }
    const other = connect(this.target, "127.0.0.1");
    this.keep(other);
    const isCut = (): boolean => socket.isPaused();
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      from.pipe(to);
      // A server that dies closes its end, which nobody sees on a line that is cut.
      from.on("close", () => isCut() || to.destroy());
    }
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => this.sockets.delete(socket));
  }
}

function silence(socket: Socket): void {
  socket.unpipe();
  socket.pause();
}

/** What is known of a service behind HAProxy. */
interface Holder {
  /** HAProxy asks it, and it was not killed. */
  isAsked: boolean;
  starts: number;
  /** The newest block that it was seen to have finalized. */
  finalized: number;
}

const BETWEEN_MS = 100;
const KEYS = ["0x1", "0x2"];

class AskingClients {
  /** Answers with a proof, and refusals while nobody held the block. */
  answered = 0;
  refused = 0;
  readonly faults: string[] = [];
  private isOver = false;
  private readonly sessions: ClientHttp2Session[];
  private readonly work: Promise<void>[];

  /** @param newest - the newest block that anybody may have finalized */
  constructor(
    edge: Edge,
    count: number,
    private readonly holders: readonly Holder[],
    private readonly state: ReferenceState,
    private readonly newest: () => number,
  ) {
    this.sessions = Array.from({length: count}, (_, at) => edge.openHttp2(`127.0.1.${at + 1}`));
    this.work = this.sessions.map(session => this.askOn(session));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.work);
    for (const session of this.sessions) session.close();
  }

  private async askOn(session: ClientHttp2Session): Promise<void> {
    for (let id = 0; !this.isOver; id++) {
      // The newest blocks more often: they are the ones that some have and others have not.
      const block = Math.max(0, this.newest() - Math.floor(8 * Math.random() ** 2));
      const held = this.holders.filter(one => one.isAsked && one.finalized >= block);
      const starts = held.map(one => one.starts);
      const fault = await this.askOnce(session, id, block);
      const isHeld = held.some((one, at) => one.isAsked && one.starts === starts[at]);
      if (fault === undefined) this.answered++;
      else if (fault.isWrong || isHeld) this.faults.push(`block ${block}: ${fault.text}`);
      else this.refused++;
      await pause(BETWEEN_MS);
    }
  }

  /** @returns why there is no proof */
  private async askOnce(
    session: ClientHttp2Session,
    id: number,
    block: number,
  ): Promise<{readonly isWrong: boolean; readonly text: string} | undefined> {
    const addresses = this.state.listAddresses(block);
    const address = addresses[id % addresses.length] as string;
    const name = `0x${block.toString(16)}`;
    let text = "";
    try {
      const {status, body} = await ask(session, JSON.stringify(proofAtCall(id, address, KEYS, name)));
      text = `${status} ${body}`.slice(0, 500);
      if (status !== 200) return {isWrong: false, text};
      const {result, error} = JSON.parse(String(body));
      if (error !== undefined) return {isWrong: false, text};
      if (result.block.number !== name) return {isWrong: true, text};
      verifyProof(sha256Suite, this.state.stateRoot(block), address, KEYS, result.proof);
      return undefined;
    } catch (error) {
      return {isWrong: text !== "", text: `${(error as Error).message} ${text}`};
    }
  }
}

/** A soak has more. */
const ROUNDS = propertyRuns(1);
const BLOCKS_PER_ROUND = 3;
const CHAIN_ID = 0x539n;
const REPLICAS = 2;
const PROVED = 'proofd_proved_total{kind="account"}';

interface Replica extends Holder {
  daemon: Daemon;
}

let lack: string | undefined;
const folder = new WorkFolder();
let brokers: NatsServer[];
let lines: CutLine[];
let node: TrieLogNode;
/** Of the node, all rounds. */
let blocks: DifferenceLine[];
let head = 0;
let ports: readonly number[];
let publisher: Daemon;
const replicas: Replica[] = [];
let edge: Edge;

before(async () => {
  lack = lacksNats() ?? lacksHaproxy();
  if (lack !== undefined) return;
  brokers = await NatsServer.startCluster(["n1", "n2", "n3"].map(name => folder.file(name)));
  await makeStream();
  lines = await Promise.all(brokers.map(({port}) => CutLine.to(port)));
  const chain = Array.from({length: 1 + ROUNDS * BLOCKS_PER_ROUND}, (_, at) => createMixedLine(at));
  const started = await TrieLogNode.start(chain);
  ({node, lines: blocks} = started);
  node.chainId = CHAIN_ID;
  await node.load(blocks.slice(0, 1));
  ports = await findPorts(REPLICAS);
  publisher = await startPublisher();
  for (let at = 0; at < REPLICAS; at++)
    replicas.push({daemon: await startReplica(at), isAsked: true, starts: 1, finalized: -1});
  edge = await Edge.before(folder, ports, [
    ["lag=60", "lag=999999999"],
    ["check inter 1s", "check inter 100ms"],
  ]);
});

after(async () => {
  if (lack !== undefined) return;
  await edge.stop();
  await Promise.all([publisher.stop(), ...replicas.map(({daemon}) => daemon.stop())]);
  await Promise.all([...brokers.map(one => one.kill()), ...lines.map(line => line.stop()), node.stop()]);
});

async function makeStream(): Promise<void> {
  const signal = new AbortController().signal;
  const nats = {urls: brokers.map(({url}) => url), credsPath: undefined};
  const connection = await connectNats(nats, "test", signal, () => {});
  const rules = {replicas: brokers.length, maxAgeMs: 3_600_000, maxBytes: 16_000_000};
  await waitUntil("a stream", async () => {
    try {
      await FeedStream.open(connection, "blocks", {suite: "sha256", chainId: CHAIN_ID}, rules);
      return true;
    } catch (error) {
      // The servers choose a leader first.
      assert.match((error as Error).message, /^NATS: /);
      return false;
    }
  });
  await connection.close();
}

function startPublisher(): Promise<Daemon> {
  const flags = ["--db", folder.file("publisher"), "--workers", "1", "--chain-id", String(CHAIN_ID)];
  const l2 = ["--l2", node.url.href, "--source", "trielogs", "--finality", "tag"];
  return startDaemon([...flags, ...l2, ...publishTo(brokers.map(({url}) => url).join(","))], {tuning: {}});
}

/** The last one is behind the lines that a test cuts. */
function startReplica(at: number): Promise<Daemon> {
  const isBehindLines = at === REPLICAS - 1;
  const urls = (isBehindLines ? lines : brokers).map(({port}) => `nats://127.0.0.1:${port}`).join(",");
  const flags = ["--db", folder.file(`replica-${at}`), "--workers", "1", "--chain-id", String(CHAIN_ID)];
  return startDaemon([...flags, "--feed", urls, "--balanced", "--port", String(ports[at])]);
}

/** The node has another block, which is final at once. */
async function extend(): Promise<void> {
  head++;
  await node.load(blocks.slice(0, head + 1));
  node.finalized = head;
}

async function killReplica(replica: Replica): Promise<void> {
  replica.isAsked = false;
  await replica.daemon.stop("SIGKILL");
  const daemon = await startReplica(replicas.indexOf(replica));
  replica.daemon = daemon;
  replica.starts++;
  // HAProxy has to see it first.
  await daemon.until("HAProxy to ask it", async () => (await daemon.readMetric(PROVED)) > 0);
  replica.isAsked = true;
}

/** Waits until these replicas have finalized the node's newest block. */
async function reach(some: readonly Replica[]): Promise<void> {
  const target = head;
  await Promise.all(
    some.map(async replica => {
      await replica.daemon.until(`block ${target} to be final`, async () => {
        const {result} = await replica.daemon.call("chain_getCoverage");
        replica.finalized = Number(result?.finalized ?? -1);
        return replica.finalized >= target;
      });
    }),
  );
}

async function assertSame(state: ReferenceState, from: number): Promise<void> {
  for (const service of [publisher, ...replicas.map(({daemon}) => daemon)])
    for (let block = from; block <= head; block++) {
      const {result} = await service.call("chain_getStateRoot", [`0x${block.toString(16)}`]);
      const {stateRoot, hash} = result;
      const expected = `0x${Buffer.from(state.stateRoot(block)).toString("hex")}`;
      assert.deepEqual({stateRoot, hash}, {stateRoot: expected, hash: blocks[block]?.hash});
    }
}

test("replicas end with equal roots, and clients see no wrong and no lost answer, whatever is killed or cut", async t => {
  if (lack !== undefined) return notRun(t, lack);
  const state = new ReferenceState(
    sha256Suite,
    blocks.map(({header, ...line}) => line),
  );
  await reach(replicas);
  const clients = new AskingClients(edge, 2, replicas, state, () => head);
  t.after(() => clients.stop());
  for (let round = 0; round < ROUNDS; round++) {
    const from = head + 1;
    for (const line of lines) line.cut();
    await extend();
    await reach(replicas.slice(0, -1));
    for (const line of lines) line.heal();
    const broker = brokers[round % brokers.length] as NatsServer;
    await broker.kill();
    await extend();
    await publisher.stop("SIGKILL");
    publisher = await startPublisher();
    await killReplica(replicas[round % REPLICAS] as Replica);
    await reach(replicas);
    await broker.start();
    await extend();
    await reach(replicas);
    for (const one of brokers) await one.catchUp();
    await assertSame(state, from);
    assert.deepEqual(clients.faults, [], `round ${round}`);
  }
  await clients.stop();
  assert.deepEqual(clients.faults, []);
  assert.ok(clients.answered > 10 * ROUNDS);
  t.diagnostic(`${clients.answered} proofs, ${clients.refused} refused while nobody had the block`);
});
