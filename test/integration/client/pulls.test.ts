/** Pulls of proofs, of whole trees and of changes from a proofd: order, memory, cursors, and what happens when something fails on the way. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";
import {
  type Abortable,
  createProofClient,
  type ProofClient,
  ProofError,
  type ProofRequest,
  type PullChangesParameters,
  type PulledChanges,
  type PulledProof,
  type PulledRange,
  type PullParameters,
  type PullStateParameters,
  pullChanges,
  pullProofs,
  pullState,
  RpcError,
  sha256Suite,
  type TreeLeaf,
  verifyMultiProof,
} from "../../../client/client.ts";
import {ABSENT_ACCOUNT, ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {type ForwardedAnswer, ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import type {UpstreamRequest} from "../../support/http/upstream.ts";
import {waitUntil} from "../../support/wait.ts";

/** Accounts with 0 to 5 keys, some of them absent. */
const REQUESTS: readonly ProofRequest[] = Array.from({length: 60}, (_, at) => ({
  address: at % 9 === 0 ? ABSENT_ACCOUNT : (ACCOUNTS[at % ACCOUNTS.length] as string),
  storageKeys: ["0x1", "0x2", "0x3", "0x4", "0x5"].slice(0, at % 6),
}));
/** Has more keys than a proof takes here, so it comes in parts. */
const LONG = {address: ACCOUNTS[3] as string, storageKeys: Array.from({length: 50}, (_, key) => `0x${key}`)};
/** Head, tail and the accounts. */
const POSITIONS = 2 + ACCOUNTS.length;
/** Changed by block 3. */
const OWNER = ACCOUNTS[3] as string;

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
  return createProofClient({url, suite: sha256Suite, trustedRoot: block => service.root(Number(block))});
}

function pullOfProofs(parameters: Partial<PullParameters> = {}, client = createClient()) {
  return pullProofs(client, {requests: REQUESTS, keysPerProof: 20, retryMs: 0, ...parameters});
}

function pullOfState(parameters: Partial<PullStateParameters> = {}, client = createClient()) {
  return pullState(client, {tree: "accounts", leavesPerRange: 5, threads: 0, retryMs: 0, ...parameters});
}

function pullOfChanges(parameters: Partial<PullChangesParameters> = {}, client = createClient()) {
  const blocks = parameters.cursor === undefined ? {from: 0, to: 3} : {};
  return pullChanges(client, {tree: "all", leavesPerAnswer: 3, retryMs: 0, ...blocks, ...parameters});
}

type Pulled = PulledProof | PulledRange | PulledChanges;
type AnyParameters = Abortable & {readonly cursor?: string | undefined; readonly ahead?: number};

/** What each of them asks for, and how. */
const PULLS: readonly (readonly [
  method: string,
  pull: (parameters?: AnyParameters, client?: ProofClient) => AsyncIterable<Pulled>,
])[] = [
  ["chain_getMultiProof", (more, client) => pullOfProofs({requests: [...REQUESTS, LONG], ...more}, client)],
  ["chain_getLeaves", (more, client) => pullOfState({tree: "all", ...more}, client)],
  ["chain_getChanges", pullOfChanges],
];

async function collect<One>(pulled: AsyncIterable<One>): Promise<One[]> {
  const all: One[] = [];
  for await (const one of pulled) all.push(one);
  return all;
}

/** What is proved, without the cursors and the bytes, which depend on where a pull began. */
function values(pulled: readonly Pulled[]): unknown[] {
  return pulled.map(one => ({...one, cursor: "", proof: undefined}));
}

function leavesOf(ranges: readonly PulledRange[]): TreeLeaf[] {
  return ranges.flatMap(({leaves}) => leaves);
}

/** Pulls the account tree through the proxy, which changes what comes back. */
async function pullChanged(
  change: ForwardingProxy["change"],
  parameters: Partial<PullStateParameters> = {},
): Promise<PulledRange[]> {
  proxy.change = change;
  return collect(pullOfState(parameters, createClient(proxy.url.href)));
}

/** NaN of another method. */
function fromOf({call}: UpstreamRequest): number {
  return Number(call.params[1]);
}

for (const [method, pull] of PULLS) {
  test(`${method}: from a cursor a pull goes on at the same block with what comes next, and after the last one there is nothing`, async () => {
    const all = await collect(pull());
    assert.ok(all.length > 4);
    assert.equal(new Set(all.map(({cursor}) => cursor)).size, all.length);
    const places = [...all.entries()].filter(([at]) => at % 13 === 0 || at > all.length - 4);
    for (const [at, {cursor}] of places)
      assert.deepEqual(values(await collect(pull({cursor}))), values(all.slice(at + 1)));
  });

  test(`${method}: a pull that fails gives all before, and goes on from the last cursor when the server is back`, async () => {
    let isDown = false;
    proxy.change = async (_, forward) => (isDown ? undefined : forward());
    const read: Pulled[] = [];
    const readOn = async (cursor?: string) => {
      for await (const one of pull({cursor}, createClient(proxy.url.href))) {
        read.push(one);
        isDown = cursor === undefined && read.length >= 3;
      }
    };
    await assert.rejects(readOn(), error => error instanceof RpcError && error.code === "UNREACHABLE");
    isDown = false;
    await readOn(read.at(-1)?.cursor);
    assert.deepEqual(values(read), values(await collect(pull())));
  });

  test(`${method}: ending the loop and aborting the signal end the calls that are under way`, async () => {
    const calls: string[] = [];
    proxy.change = ({call}, forward) => {
      if (call.method === method) calls.push(JSON.stringify(call.params));
      return forward();
    };
    await collect(pull({ahead: 1}, createClient(proxy.url.href)));
    for (const isAborted of [false, true]) {
      const abort = new AbortController();
      const gone: Promise<void>[] = [];
      proxy.change = (request, forward) => {
        // The second and the third are under way together, and either may come first.
        if (JSON.stringify(request.call.params) !== calls[2]) return forward();
        // It is never answered, so the connection ends when the client gives the call up.
        gone.push(new Promise(resolve => request.head.socket.once("close", () => resolve())));
        return new Promise(() => {});
      };
      const reading = async () => {
        const answers = new Set<unknown>();
        for await (const one of pull({signal: abort.signal, ahead: 2}, createClient(proxy.url.href))) {
          answers.add("proof" in one ? one.proof : one);
          // The third is asked for while the second is read.
          if (answers.size < 2) continue;
          await waitUntil("a call that is under way", () => gone.length > 0);
          if (!isAborted) break;
          abort.abort(new Error("enough"));
        }
      };
      if (isAborted) await assert.rejects(reading(), /enough/);
      else await reading();
      await Promise.all(gone);
    }
    await assert.rejects(collect(pull({signal: AbortSignal.abort()})), {name: "AbortError"});
  });
}

for (const [method, pull] of [
  ["chain_getLeaves", pullOfState],
  ["chain_getChanges", pullOfChanges],
] as const)
  test(`${method}: a pull asks for no more than \`ahead\` answers that nobody has read`, async () => {
    let [asked, read] = [0, 0];
    proxy.change = async ({call}, forward) => {
      if (call.method === method) asked++;
      return forward();
    };
    const client = createClient(proxy.url.href);
    for await (const _ of pull({ahead: 2}, client)) {
      read++;
      // Time for what is asked for too early, if anything is.
      await client.getStateRoot();
      assert.ok(asked <= read + 1, `${asked} asked, ${read} read`);
    }
    assert.ok(read > 4);
  });

test("a pull of proofs gives every entry in order, as single proofs at the same block do, with bytes that prove it again", async () => {
  const client = createClient();
  const [pulled, single] = await Promise.all([
    collect(pullOfProofs()),
    Promise.all(REQUESTS.map(request => client.getProof({...request, block: FINALIZED}))),
  ]);
  assert.deepEqual(
    pulled.map(({address, account, slots, block}) => [address, account, slots, block]),
    single.map(({account, slots, block}, at) => [REQUESTS[at]?.address, account, slots, block]),
  );
  const proofs = [...new Set(pulled.map(({proof}) => proof))];
  assert.ok(proofs.length > 2);
  const again = proofs.flatMap(proof => {
    const entries = pulled.filter(one => one.proof === proof);
    return verifyMultiProof(sha256Suite, service.root(FINALIZED), entries, proof);
  });
  assert.deepEqual(
    again,
    pulled.map(({account, slots}) => ({account, slots})),
  );
});

test("a pull of proofs at a named block proves that block", async () => {
  for (const [block, number] of [
    [2, 2n],
    ["earliest", 0n],
  ] as const) {
    const [first] = await collect(pullOfProofs({block, requests: REQUESTS.slice(1, 2)}));
    assert.equal(first?.block, number);
  }
});

test("a pull takes from an endless source only what its reader has room for, and closes it", async () => {
  let taken = 0;
  let isClosed = false;
  async function* endless(): AsyncGenerator<ProofRequest> {
    try {
      for (;;) yield REQUESTS[taken++ % REQUESTS.length] as ProofRequest;
    } finally {
      isClosed = true;
    }
  }
  let read = 0;
  for await (const _ of pullOfProofs({requests: endless(), keysPerProof: 10, ahead: 3})) {
    read++;
    // Three pieces of at most ten entries, one that is being gathered, and the entry that did not fit.
    assert.ok(taken <= read + 4 * 10 + 1, `${taken} taken, ${read} read`);
    if (read === 200) break;
  }
  assert.ok(isClosed);
});

test("a source that waits for its reader gets what it waits for", async () => {
  let release: (() => void) | undefined;
  async function* waiting(): AsyncGenerator<ProofRequest> {
    yield* REQUESTS.slice(0, 12);
    await new Promise<void>(resolve => {
      release = resolve;
    });
    yield* REQUESTS.slice(12, 20);
  }
  let read = 0;
  for await (const _ of pullOfProofs({requests: waiting(), keysPerProof: 6})) {
    read++;
    release?.();
  }
  assert.equal(read, 20);
});

test("what a source throws comes after all proofs before it, and an abort ends a pull whose source is silent", async () => {
  function* failing(): Generator<ProofRequest> {
    yield* REQUESTS.slice(0, 30);
    throw new Error("the file ends here");
  }
  const read: PulledProof[] = [];
  const reading = async () => {
    for await (const one of pullOfProofs({requests: failing(), keysPerProof: 8})) read.push(one);
  };
  await assert.rejects(reading(), /the file ends here/);
  // The last entries were not a whole piece yet.
  assert.ok(read.length >= 20, String(read.length));
  const abort = new AbortController();
  async function* silent(): AsyncGenerator<ProofRequest> {
    yield* REQUESTS.slice(0, 20);
    abort.abort(new Error("enough"));
    await new Promise(() => {});
  }
  await assert.rejects(collect(pullOfProofs({requests: silent(), signal: abort.signal})), /enough/);
});

test("a pull gives the account tree of the newest finalized block in order, range by range", async () => {
  const ranges = await collect(pullOfState());
  assert.deepEqual(
    ranges.map(({block, tree, account, nextFreeNode, from, end}) => [
      ...[block.number, tree, account, nextFreeNode],
      ...[from, end],
    ]),
    Array.from({length: 9}, (_, i) => [
      ...[BigInt(FINALIZED), "accounts", undefined, POSITIONS],
      ...[5 * i, Math.min(5 * i + 5, POSITIONS)],
    ]),
  );
});

test("of small storage trees, eight are asked for in place of a range", async () => {
  let [open, most] = [0, 0];
  proxy.change = async (_, forward) => {
    most = Math.max(most, ++open);
    return forward().finally(() => open--);
  };
  const client = createClient(proxy.url.href);
  await collect(pullOfState({tree: "all", block: 3, leavesPerRange: 64, ahead: 2}, client));
  assert.ok(most > 2 && most <= 16, String(most));
});

test("an account without storage gives one empty range, which proves that there is none", async () => {
  const [range, ...more] = await collect(pullOfState({tree: ABSENT_ACCOUNT}));
  assert.deepEqual([range?.from, range?.end, range?.nextFreeNode, range?.leaves, more], [0, 2, 2, [], []]);
  assert.equal(range?.account, undefined);
  assert.deepEqual(await collect(pullOfState({tree: ABSENT_ACCOUNT, cursor: range?.cursor as string})), []);
});

test("answers in another order, in parts, and after broken connections are put together", async () => {
  const expected = leavesOf(await collect(pullOfState()));
  const held = new Map<number, () => void>();
  const answered = new Set<number>();
  let later = 0;
  const reordered = await pullChanged(
    async (request, forward) => {
      const answer = await forward();
      const at = fromOf(request) / 5;
      answered.add(at);
      // Every second range waits until the one after it is answered.
      held.get(at - 1)?.();
      if (at % 2 === 1 && at < 7) {
        later++;
        if (!answered.has(at + 1)) await new Promise<void>(resolve => held.set(at, resolve));
      }
      return answer;
    },
    {block: FINALIZED},
  );
  assert.equal(later, 3);
  assert.deepEqual(leavesOf(reordered), expected);

  let requests = 0;
  const broken = await pullChanged(async (_, forward) => (++requests % 3 === 0 ? undefined : forward()), {
    retryMs: 30_000,
  });
  assert.deepEqual(leavesOf(broken), expected);
});

test("while a server is busy it is asked again, not before it says, and no longer than retryMs", async () => {
  const busy = {status: 503, type: "text/plain", body: Buffer.of()};
  const order: string[] = [];
  let requests = 0;
  const change: ForwardingProxy["change"] = async (_, forward) => {
    if (++requests !== 2) return forward();
    setTimeout(() => order.push("most of the second is over"), 900);
    return {...busy, retryAfter: "1"};
  };
  assert.equal((await pullChanged(change, {retryMs: 30_000, leavesPerRange: 4096})).length, 1);
  order.push("pulled");
  assert.deepEqual(order, ["most of the second is over", "pulled"]);
  assert.equal(requests, 3);
  for (const [retryAfter, isAskedAgain] of [
    ["60", false],
    [undefined, true],
  ] as const) {
    requests = 0;
    const always: ForwardingProxy["change"] = async () => {
      requests++;
      return {...busy, retryAfter};
    };
    const pulling = pullChanged(always, {block: 3, retryMs: 1000, ahead: 1});
    await assert.rejects(pulling, {code: "HTTP_STATUS", status: 503});
    assert.equal(requests > 1, isAskedAgain, String(requests));
  }
});

async function answerTo(params: readonly unknown[]): Promise<ForwardedAnswer> {
  const call = {jsonrpc: "2.0", id: 1, method: "chain_getLeaves", params};
  const {type, body} = await service.daemon.postAccepting("application/octet-stream", call);
  return {status: 200, type: String(type), body: Buffer.from(body)};
}

test("a server that answers fewer leaves than it is asked for is asked for the rest", async () => {
  const shorten: ForwardingProxy["change"] = ({call: {params}}) => {
    const [tree, from, count, block] = params;
    return answerTo([tree, from, `0x${Math.min(2, Number(count)).toString(16)}`, block]);
  };
  const ranges = await pullChanged(shorten, {block: FINALIZED});
  assert.ok(ranges.every(({from, end}) => end - from <= 2));
  assert.deepEqual(leavesOf(ranges), leavesOf(await collect(pullOfState())));
});

function flip({status, type, body}: ForwardedAnswer): ForwardedAnswer {
  const changed = Buffer.from(body);
  changed.writeUInt8(changed.readUInt8(changed.length - 20) ^ 1, changed.length - 20);
  return {status, type, body: changed};
}

test("forged ranges, and those of another block or place, are refused after all ranges before", async () => {
  const changes: ForwardingProxy["change"][] = [
    async (_, forward) => flip(await forward()),
    ({call: {params}}) => answerTo([params[0], params[1], params[2], "0x2"]),
    ({call: {params}}) => answerTo([params[0], "0x5", params[2], params[3]]),
    ({call: {params}}) => answerTo([OWNER, "0x0", params[2], params[3]]),
  ];
  for (const change of changes) {
    const read: number[] = [];
    proxy.change = async (request, forward) =>
      fromOf(request) === 20 ? change(request, forward) : forward();
    await assert.rejects(async () => {
      for await (const {from} of pullOfState({block: 3, retryMs: 30_000}, createClient(proxy.url.href)))
        read.push(from);
    }, ProofError);
    assert.deepEqual(read, [0, 5, 10, 15]);
  }
});

test("forged changes are refused after all answers before", async () => {
  let [answers, read] = [0, 0];
  proxy.change = async ({call}, forward) => {
    const answer = await forward();
    // A call of the test before may come only now.
    return call.method === "chain_getChanges" && ++answers === 3 ? flip(answer) : answer;
  };
  await assert.rejects(async () => {
    for await (const _ of pullOfChanges({}, createClient(proxy.url.href))) read++;
  }, ProofError);
  assert.equal(read, 2);
});

test("a block that the server cannot prove ends a pull with its error, also from a cursor", async () => {
  for (const parameters of [{block: 999}, {cursor: "s1.999.accounts.0.5"}])
    await assert.rejects(
      collect(pullOfState(parameters)),
      error => error instanceof RpcError && (error.code === -32001 || error.code === -32002),
    );
});

test("a bundle without the file of the threads verifies in its own thread", async () => {
  const bundle = service.path("bundle.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("../../../client/client.js", import.meta.url))],
    outfile: bundle,
    bundle: true,
    format: "esm",
    logLevel: "error",
  });
  const bundled = (await import(bundle)) as typeof import("../../../client/client.ts");
  const client = bundled.createProofClient({
    url: service.daemon.url,
    suite: bundled.sha256Suite,
    trustedRoot: block => service.root(Number(block)),
  });
  const ranges = await collect(bundled.pullState(client, {tree: "accounts", leavesPerRange: 9, threads: 2}));
  assert.deepEqual(leavesOf(ranges), leavesOf(await collect(pullOfState())));
});

test("a pull of changes gives the answers of getChanges one after another, both ways", async () => {
  const client = createClient();
  for (const tree of ["accounts", "all", OWNER])
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
      const pulled = await collect(pullOfChanges({tree, from, to}));
      assert.deepEqual(
        pulled.map(({cursor: _, ...one}) => one),
        answers,
        `${tree} from ${from} to ${to}`,
      );
      if (from !== to && tree !== OWNER) assert.ok(pulled.length > 2);
    }
  const [first] = await collect(pullOfChanges({to: undefined, leavesPerAnswer: 4096}));
  assert.deepEqual([first?.fromBlock.number, first?.toBlock.number], [0n, BigInt(FINALIZED)]);
});

test("a cursor may come with its own block, and with no other", async () => {
  const at = async (block: PullParameters["block"] & {}) =>
    values(await collect(pullOfProofs({cursor: "1.3.0.0", block, requests: REQUESTS.slice(0, 1)})));
  assert.deepEqual(await at(3), await at(3n));
  for (const block of [2, "finalized"] as const)
    await assert.rejects(at(block), {message: `expected block 3 as in the cursor, got ${block}`});
});

test("parameters that are none are a TypeError, and so is a cursor of another tree, block or source", async () => {
  const proofs = "1.3.0.0";
  for (const wrong of [
    ...[{keysPerProof: 1}, {ahead: 0}, {cursor: proofs, block: 2}],
    ...["", "0x3", "1.2.3", "2.1.2.3", "1.01.2.3", "1.1.2.-3", "1.1.2.3 ", "1.3.99.0"].map(cursor => ({
      cursor,
    })),
  ])
    await assert.rejects(collect(pullOfProofs(wrong)), TypeError, JSON.stringify(wrong));
  const state = "s1.3.accounts.0.5";
  for (const wrong of [
    ...[{tree: "blocks"}, {tree: "0x12"}, {ahead: 0}, {leavesPerRange: 4097}, {threads: -1}],
    ...[{cursor: proofs}, {cursor: "s1.3.accounts.7.5"}, {cursor: state, tree: OWNER}],
    ...[
      {cursor: state, block: 2},
      {cursor: state, block: "finalized" as const},
    ],
  ])
    await assert.rejects(collect(pullOfState(wrong)), TypeError, JSON.stringify(wrong));
  const changes = "c1.0.3.all.5";
  const wrongs: Partial<PullChangesParameters>[] = [
    ...[{from: undefined}, {tree: "blocks"}, {ahead: 0}, {leavesPerAnswer: 0}, {cursor: state}],
    ...[
      {cursor: changes, tree: OWNER},
      {cursor: changes, from: 1},
      {cursor: changes, to: "finalized" as const},
    ],
  ];
  for (const wrong of wrongs)
    await assert.rejects(collect(pullOfChanges(wrong)), TypeError, JSON.stringify(wrong));
});
