/** Pulls of what differs between two blocks: they are the answers of getChanges one after another, from each cursor on. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {
  createProofClient,
  ProofError,
  type PullChangesParameters,
  type PulledChanges,
  pullChanges,
  RpcError,
  sha256Suite,
} from "../../../client/client.ts";
import {ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {waitUntil} from "../../support/wait.ts";

/** Changed by block 3. */
const OWNER = ACCOUNTS[3] as string;
const TREES = ["accounts", "all", OWNER];

let service: ProvenService;
let proxy: ForwardingProxy;
before(async () => {
  service = await ProvenService.start();
  proxy = await ForwardingProxy.to(service.daemon.url);
});
after(async () => {
  await proxy.stop();
  await service.stop();
});

function createClient(url = service.daemon.url) {
  return createProofClient({
    url,
    suite: sha256Suite,
    trustedRoot: block => service.root(Number(block)),
  });
}

function pull(parameters: Partial<PullChangesParameters> = {}, client = createClient()) {
  const blocks = parameters.cursor === undefined ? {from: 0, to: 3} : {};
  return pullChanges(client, {tree: "all", leavesPerAnswer: 3, retryMs: 0, ...blocks, ...parameters});
}

async function collect(changes: AsyncIterable<PulledChanges>): Promise<PulledChanges[]> {
  const all: PulledChanges[] = [];
  for await (const one of changes) all.push(one);
  return all;
}

/** What changed, without cursors. */
function values(changes: readonly PulledChanges[]): unknown {
  return changes.map(({cursor: _, ...one}) => one);
}

test("a pull gives the answers of getChanges one after another, both ways", async () => {
  const client = createClient();
  for (const tree of TREES)
    for (const [from, to] of [
      [0, 3],
      [3, 0],
      [2, 2],
    ] as const) {
      const answers: unknown[] = [];
      for (let cursor: bigint | undefined = 0n; cursor !== undefined; ) {
        const answer = await client.getChanges({tree, fromBlock: from, toBlock: to, cursor, count: 3});
        const {end, ...one} = answer;
        answers.push({...one, begin: cursor});
        cursor = end;
      }
      const pulled = await collect(pull({tree, from, to}));
      assert.deepEqual(values(pulled), answers, `${tree} from ${from} to ${to}`);
      if (from !== to && tree !== OWNER) assert.ok(pulled.length > 2);
    }
});

test("the default of `to` is the newest finalized block", async () => {
  const [first] = await collect(pull({to: "finalized", leavesPerAnswer: 4096}));
  assert.deepEqual([first?.fromBlock.number, first?.toBlock.number], [0n, BigInt(FINALIZED)]);
});

test("from each cursor a pull goes on at the same two blocks, and after the last one there is nothing", async () => {
  const all = await collect(pull());
  for (const [at, {cursor}] of all.entries())
    assert.deepEqual(values(await collect(pull({cursor}))), values(all.slice(at + 1)));
});

test("a pull asks for no more than `ahead` answers that nobody has read", async () => {
  let asked = 0;
  proxy.change = async (_, forward) => {
    asked++;
    return forward();
  };
  let read = 0;
  const client = createClient(proxy.url.href);
  for await (const _ of pull({ahead: 2}, client)) {
    read++;
    // Time for what is asked for too early, if anything is.
    await client.getStateRoot();
    asked--;
    assert.ok(asked <= read + 1, `${asked} asked, ${read} read`);
  }
  assert.ok(read > 4);
});

test("a pull that fails gives all answers before, and goes on from the last cursor", async () => {
  let isDown = false;
  proxy.change = async (_, forward) => (isDown ? undefined : forward());
  const read: PulledChanges[] = [];
  const readOn = async (cursor?: string) => {
    for await (const one of pull(cursor === undefined ? {} : {cursor}, createClient(proxy.url.href))) {
      read.push(one);
      isDown = cursor === undefined && read.length >= 2;
    }
  };
  await assert.rejects(readOn(), error => error instanceof RpcError && error.code === "UNREACHABLE");
  isDown = false;
  await readOn(read.at(-1)?.cursor);
  assert.deepEqual(values(read), values(await collect(pull())));
});

test("a forged answer is refused after all answers before", async () => {
  let answers = 0;
  proxy.change = async (_, forward) => {
    const {body, ...answer} = await forward();
    const changed = Buffer.from(body);
    if (++answers === 3) changed.writeUInt8(changed.readUInt8(changed.length - 20) ^ 1, changed.length - 20);
    return {...answer, body: changed};
  };
  let read = 0;
  await assert.rejects(async () => {
    for await (const _ of pull({}, createClient(proxy.url.href))) read++;
  }, ProofError);
  assert.equal(read, 2);
});

test("ending the loop and aborting the signal end the call that is under way", async () => {
  for (const isAborted of [false, true]) {
    const abort = new AbortController();
    let asked = 0;
    let gone: Promise<void> | undefined;
    proxy.change = (request, forward) => {
      if (++asked < 2) return forward();
      gone = new Promise(resolve => request.head.socket.once("close", () => resolve()));
      if (isAborted) abort.abort(new Error("enough"));
      return new Promise(() => {});
    };
    const reading = async () => {
      for await (const _ of pull({signal: abort.signal}, createClient(proxy.url.href)))
        if (!isAborted) {
          // The next answer is asked for while this one is read.
          await waitUntil("the next request", () => gone !== undefined);
          break;
        }
    };
    if (isAborted) await assert.rejects(reading(), /enough/);
    else await reading();
    await gone;
  }
});

test("parameters that are none are a TypeError, and so is a cursor of another tree or block", async () => {
  const cursor = "c1.0.3.all.5";
  const wrongs: (Partial<PullChangesParameters> | {readonly from: undefined})[] = [
    {from: undefined},
    {tree: "blocks"},
    {ahead: 0},
    {leavesPerAnswer: 0},
    {cursor: "s1.3.all.0.5"},
    {cursor, tree: OWNER},
    {cursor, from: 1},
    {cursor, to: "finalized"},
  ];
  for (const wrong of wrongs)
    await assert.rejects(
      collect(pull(wrong as Partial<PullChangesParameters>)),
      TypeError,
      JSON.stringify(wrong),
    );
});
