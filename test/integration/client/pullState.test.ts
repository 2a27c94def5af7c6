/** Pulls of whole trees from a proofd: order, memory, cursors, and what happens when something fails on the way. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";
import {
  createProofClient,
  ProofError,
  type PulledRange,
  type PullStateParameters,
  pullState,
  RpcError,
  sha256Suite,
  type TreeLeaf,
} from "../../../client/client.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, createLines} from "../../support/chains/serviceChain.ts";
import {type ForwardedAnswer, ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import type {UpstreamRequest} from "../../support/http/upstream.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";

/** Head, tail and the accounts. */
const POSITIONS = 2 + ACCOUNTS.length;
const OWNER = ACCOUNTS[3] as string;

let service: ProvenService;
let proxy: ForwardingProxy;
const state = new ReferenceState(sha256Suite, createLines(0, LATEST));
before(async () => {
  service = await ProvenService.start();
  proxy = await ForwardingProxy.to(service.daemon.url);
});
after(async () => {
  await proxy.stop();
  await service.stop();
});

function createClient({url = service.daemon.url} = {}) {
  return createProofClient({
    url,
    suite: sha256Suite,
    trustedRoot: block => service.root(Number(block)),
  });
}

function pull(parameters: Partial<PullStateParameters> = {}, client = createClient()) {
  return pullState(client, {tree: "accounts", leavesPerRange: 5, threads: 0, retryMs: 0, ...parameters});
}

async function collect(ranges: AsyncIterable<PulledRange>): Promise<PulledRange[]> {
  const all: PulledRange[] = [];
  for await (const one of ranges) all.push(one);
  return all;
}

function leavesOf(ranges: readonly PulledRange[]): TreeLeaf[] {
  return ranges.flatMap(({leaves}) => leaves);
}

/** Pulls through the proxy, which changes what comes back. */
async function pullChanged(
  change: ForwardingProxy["change"],
  parameters: Partial<PullStateParameters> = {},
): Promise<PulledRange[]> {
  proxy.change = change;
  return collect(pull(parameters, createClient({url: proxy.url.href})));
}

async function postJson(body: string): Promise<ForwardedAnswer> {
  const headers = {"content-type": "application/json"};
  const answer = await fetch(service.daemon.url, {method: "POST", headers, body});
  return {status: 200, type: "application/json", body: Buffer.from(await answer.arrayBuffer())};
}

/** NaN of another method. */
function fromOf({call}: UpstreamRequest): number {
  return Number(call.params[1]);
}

test("a pull gives the account tree in order, range by range, at one block", async () => {
  const ranges = await collect(pull());
  assert.deepEqual(
    ranges.map(({from, end}) => [from, end]),
    Array.from({length: 9}, (_, i) => [5 * i, Math.min(5 * i + 5, POSITIONS)]),
  );
  for (const {block, tree, account, nextFreeNode} of ranges)
    assert.deepEqual(
      [block.number, tree, account, nextFreeNode],
      [BigInt(FINALIZED), "accounts", undefined, POSITIONS],
    );
  const whole = await collect(pull({leavesPerRange: 4096}));
  assert.equal(whole.length, 1);
  assert.deepEqual(leavesOf(whole), leavesOf(ranges));
  assert.equal(new Set(ranges.map(({cursor}) => cursor)).size, ranges.length);
});

test("a pull of an address gives its account and its slots, those of the block that is named", async () => {
  for (const block of [0, 3n]) {
    const ranges = await collect(
      pull({tree: OWNER.toUpperCase().replace("0X", "0x"), block, leavesPerRange: 2}),
    );
    assert.deepEqual(
      ranges.map(({tree, from, end}) => [tree, from, end]),
      [
        [OWNER, 0, 2],
        [OWNER, 2, 4],
        [OWNER, 4, 5],
      ],
    );
    const held = state.readAccount(Number(block), OWNER);
    assert.equal(ranges[0]?.account?.balance, held?.balance);
    assert.deepEqual(
      leavesOf(ranges).flatMap(leaf => (leaf.role === "slot" ? [leaf.value] : [])),
      [...(held?.slots.values() ?? [])],
    );
  }
});

test("a pull of all trees gives what pulls of each tree give", async () => {
  let [open, most] = [0, 0];
  proxy.change = async (_, forward) => {
    most = Math.max(most, ++open);
    return forward().finally(() => open--);
  };
  const client = createClient({url: proxy.url.href});
  const ranges = await collect(pull({tree: "all", block: 3, leavesPerRange: 64, ahead: 2}, client));
  // Of small trees, eight are asked for in place of a range.
  assert.ok(most > 2 && most <= 16, String(most));
  const single: PulledRange[] = await collect(pull({block: 3, leavesPerRange: 64}));
  for (const leaf of leavesOf(single))
    if (leaf.role === "account")
      single.push(...(await collect(pull({tree: `${leaf.address}`, block: 3, leavesPerRange: 64}))));
  assert.equal(single.length, 1 + ACCOUNTS.length);
  const values = (all: readonly PulledRange[]) => all.map(({cursor: _, ...range}) => range);
  assert.deepEqual(values(ranges), values(single));
  // After the last range there is nothing, and before it the storage of the last account.
  const [last, final] = ranges.slice(-2) as [PulledRange, PulledRange];
  const goOn = (cursor: string) => collect(pull({tree: "all", cursor, leavesPerRange: 64}));
  assert.deepEqual(values(await goOn(last.cursor)), values([final]));
  assert.deepEqual(await goOn(final.cursor), []);
});

test("an account without storage gives one empty range, which proves that there is none", async () => {
  const [range, ...more] = await collect(pull({tree: ABSENT_ACCOUNT}));
  assert.deepEqual([range?.from, range?.end, range?.nextFreeNode, range?.leaves, more], [0, 2, 2, [], []]);
  assert.equal(range?.account, undefined);
  assert.deepEqual(await collect(pull({tree: ABSENT_ACCOUNT, cursor: range?.cursor as string})), []);
});

test("from each cursor a pull goes on at the same block with the next range", async () => {
  const all = await collect(pull({block: 3}));
  for (const [at, {cursor}] of all.entries()) {
    assert.deepEqual(leavesOf(await collect(pull({cursor}))), leavesOf(all.slice(at + 1)));
    assert.deepEqual(
      leavesOf(await collect(pull({cursor, block: 3, leavesPerRange: 7}))),
      leavesOf(all.slice(at + 1)),
    );
  }
});

test("a pull asks for no more than `ahead` ranges that nobody has read", async () => {
  const asked: number[] = [];
  proxy.change = async (request, forward) => {
    asked.push(fromOf(request));
    return forward();
  };
  const client = createClient({url: proxy.url.href});
  let read = 0;
  for await (const {from} of pull({leavesPerRange: 2, ahead: 3, block: 1}, client)) {
    assert.equal(from, 2 * read++);
    // Time for what is asked for too early, if anything is.
    if (read % 5 === 0) await client.getStateRoot();
    const leaves = asked.filter(at => !Number.isNaN(at));
    assert.ok(leaves.length <= read + 2, `${leaves.length} asked, ${read} read`);
  }
  assert.equal(read, POSITIONS / 2);
});

test("answers in another order, in parts, and after broken connections are put together", async () => {
  const expected = leavesOf(await collect(pull()));
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
    const pulling = pullChanged(always, {block: 3, retryMs: 100, ahead: 1});
    await assert.rejects(pulling, {code: "HTTP_STATUS", status: 503});
    assert.equal(requests > 1, isAskedAgain, String(requests));
  }
});

test("a server that answers fewer leaves than it is asked for is asked for the rest", async () => {
  const shorten: ForwardingProxy["change"] = async request => {
    const [tree, from, count, block] = request.call.params;
    const params = [tree, from, `0x${Math.min(2, Number(count)).toString(16)}`, block];
    const body = JSON.stringify({...request.call, params});
    return postJson(body);
  };
  const ranges = await pullChanged(shorten, {block: FINALIZED});
  assert.ok(ranges.every(({from, end}) => end - from <= 2));
  assert.deepEqual(leavesOf(ranges), leavesOf(await collect(pull())));
});

test("forged ranges, and those of another block or place, are refused after all ranges before", async () => {
  const flip = ({status, type, body}: ForwardedAnswer): ForwardedAnswer => {
    const changed = Buffer.from(body);
    changed.writeUInt8(changed.readUInt8(changed.length - 40) ^ 1, changed.length - 40);
    return {status, type, body: changed};
  };
  const answerTo = async (params: readonly unknown[]): Promise<ForwardedAnswer> => {
    const call = {jsonrpc: "2.0", id: 1, method: "chain_getLeaves", params};
    const {type, body} = await service.daemon.postAccepting("application/octet-stream", call);
    return {status: 200, type: String(type), body: Buffer.from(body)};
  };
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
      for await (const {from} of pull({block: 3, retryMs: 30_000}, createClient({url: proxy.url.href})))
        read.push(from);
    }, ProofError);
    assert.deepEqual(read, [0, 5, 10, 15]);
  }
});

test("a pull that fails goes on from the cursor of its last range, when the server is back", async () => {
  const read: PulledRange[] = [];
  let isDown = false;
  proxy.change = async (_, forward) => (isDown ? undefined : forward());
  const readOn = async (cursor?: string) => {
    const client = createClient({url: proxy.url.href});
    for await (const one of pull(cursor === undefined ? {} : {cursor}, client)) {
      read.push(one);
      isDown = cursor === undefined && read.length >= 3;
    }
  };
  await assert.rejects(readOn(), error => error instanceof RpcError && error.code === "UNREACHABLE");
  isDown = false;
  await readOn(read.at(-1)?.cursor);
  assert.deepEqual(leavesOf(read), leavesOf(await collect(pull())));
});

test("a block that the server cannot prove ends a pull with its error, also from a cursor", async () => {
  const {cursor} = (await collect(pull({block: 2})))[1] as PulledRange;
  const unknown = cursor.replace("s1.2.", "s1.999.");
  for (const parameters of [{block: 999}, {cursor: unknown}])
    await assert.rejects(
      collect(pull(parameters)),
      error => error instanceof RpcError && (error.code === -32001 || error.code === -32002),
    );
});

test("ending the loop and aborting the signal end the calls that are under way", async () => {
  for (const isAborted of [false, true]) {
    const abort = new AbortController();
    const gone: Promise<void>[] = [];
    proxy.change = (request, forward) => {
      if (!(fromOf(request) >= 10)) return forward();
      // It is never answered, so the connection ends when the client gives the call up.
      gone.push(new Promise(resolve => request.head.socket.once("close", () => resolve())));
      return new Promise(() => {});
    };
    const client = createClient({url: proxy.url.href});
    const reading = async () => {
      for await (const {from} of pull({signal: abort.signal}, client)) {
        if (from !== 5) continue;
        if (!isAborted) break;
        abort.abort(new Error("enough"));
      }
    };
    if (isAborted) await assert.rejects(reading(), /enough/);
    else await reading();
    await Promise.all(gone);
    assert.ok(gone.length > 0);
  }
  await assert.rejects(collect(pull({signal: AbortSignal.abort()})), {name: "AbortError"});
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
  assert.deepEqual(leavesOf(ranges), leavesOf(await collect(pull())));
});

test("parameters that are none are a TypeError, and so is a cursor of another tree or block", async () => {
  const cursor = `s1.3.accounts.0.5`;
  for (const wrong of [
    {tree: "blocks"},
    {tree: "0x12"},
    {ahead: 0},
    {leavesPerRange: 4097},
    {threads: -1},
    {cursor: "1.3.0.0"},
    {cursor: "s1.3.accounts.7.5"},
    {cursor, tree: OWNER},
    {cursor, block: 2},
    {cursor, block: "finalized"} as const,
  ])
    await assert.rejects(collect(pull(wrong)), TypeError, JSON.stringify(wrong));
});
