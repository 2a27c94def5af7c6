/** Nodes that fail, lie, or are of another chain, and what a service that follows them makes of it. */
import assert from "node:assert/strict";
import {after, afterEach, before} from "node:test";
import {uniformInt} from "pure-rand/distribution/uniformInt";
import {xoroshiro128plus} from "pure-rand/generator/xoroshiro128plus";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {createLiveTest} from "../../support/chains/liveTest.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness, waitForHead, waitForMetric, waitForState} from "../../support/http/followingDaemon.ts";
import {type ForwardedAnswer, ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {compareBlocks} from "../../support/http/liveComparison.ts";
import {readLog, waitForChain, waitForHash, withFollower} from "../../support/http/nodeFollower.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import type {UpstreamRequest} from "../../support/http/upstream.ts";
import {importHere} from "../../support/stores/importedStore.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";

const FAILED = "the import failed, the service keeps serving the blocks it has";
const RECOVERED = "the import continues after a failure";
/** A service without a finalized block is never ready. */
const TRACED = ["--source", "trace", "--finalized", "0"];
const WRONG = `0x${"63".padStart(64, "0")}`;

const folder = new WorkFolder();
let chain: LiveChain | string;
let proxy: FaultyProxy;
let count = 0;

before(async () => {
  chain = await LiveChain.create(folder.path);
  if (typeof chain === "string") return;
  await chain.grow(6);
  proxy = await FaultyProxy.start(chain.anvil.url, 7);
});

after(async () => {
  if (chain instanceof LiveChain) {
    await proxy.stop();
    await chain.stop();
  }
});

afterEach(() => {
  if (chain instanceof LiveChain) proxy.alter = undefined;
});

function newStore(): string {
  return folder.file(`faulty${count++}.db`);
}

const liveTest = createLiveTest(() => chain);

function flagsOf(db: string, live: LiveChain, urls: readonly string[]): string[] {
  return ["--db", db, "--l2", urls.join(","), "--genesis", live.genesisPath];
}

async function mustImport(flags: readonly string[]): Promise<void> {
  const outcome = await importHere(flags);
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
}

/** By the hash of the chain's newest block. */
const undisturbed = new Map<string, string[]>();

async function importRoots(live: LiveChain): Promise<string[]> {
  const {hash} = await live.block("latest");
  const known = undisturbed.get(hash);
  if (known !== undefined) return known;
  const db = newStore();
  await mustImport(flagsOf(db, live, [live.anvil.url]));
  const roots = await readStoredRoots(db);
  undisturbed.set(hash, roots);
  return roots;
}

/** A node's states are logged when they change, and not at each failure. */
function assertNoRepetition(daemon: OwnService): void {
  const states = daemon.stderr
    .split("\n")
    .filter(line => line.includes('"node":"') && line.includes('"state":"'))
    .map(line => JSON.parse(line).state);
  assert.ok(states.includes("down"), states.join());
  for (const [at, state] of states.entries()) assert.notEqual(state, states[at - 1], states.join());
}

liveTest("after faults of every kind the roots are those of an undisturbed import", live => {
  proxy.share = 0.3;
  return withFollower([...flagsOf(newStore(), live, [proxy.url]), "--source", "trace"], async daemon => {
    await live.grow(2);
    await live.reorganise(2, 1);
    await daemon.waitForStderr(/"state":"down"/);
    proxy.share = 0;
    const latest = await waitForChain(daemon, live);
    assert.deepEqual(await compareBlocks(daemon, live, latest), await importRoots(live));
    assertNoRepetition(daemon);
  });
});

liveTest("blocks are executed after traced ones, and the other way round", async live => {
  const db = newStore();
  const latest = await live.height();
  for (const [source, to] of [
    ["trace", 3],
    ["execute", 5],
    ["trace", latest],
  ] as const)
    await mustImport([...flagsOf(db, live, [live.anvil.url]), "--source", source, "--to", `${to}`]);
  assert.deepEqual(await readStoredRoots(db), await importRoots(live));
});

type Accounts = Record<
  string,
  {storage?: Record<string, string>; code?: string; nonce?: number; balance?: string}
>;

/** Changes what a trace says of the state after each transaction. What transactions touched is nothing, if it is asked for. */
function alterTraces(change: (post: Accounts, pre: Accounts) => void): NonNullable<FaultyProxy["alter"]> {
  return (method, result) => {
    if (method !== "debug_traceBlockByNumber") return result;
    const traces = structuredClone(result) as {result: {readonly post?: Accounts; readonly pre?: Accounts}}[];
    for (const trace of traces) {
      const {post, pre = {}} = trace.result;
      if (post === undefined) trace.result = {};
      else change(post, pre);
    }
    return traces;
  };
}

function hasDiffs(result: unknown): boolean {
  return Array.isArray(result) && result.some(trace => trace.result?.post !== undefined);
}

const leaveSlotsOut = alterTraces(post => {
  for (const account of Object.values(post)) delete account.storage;
});

function isTouched(method: string, result: unknown): boolean {
  return method === "debug_traceBlockByNumber" && (result as []).length > 0 && !hasDiffs(result);
}

const LIES: readonly (readonly [what: string, alter: NonNullable<FaultyProxy["alter"]>])[] = [
  [
    "gives wrong values of slots",
    alterTraces(post => {
      for (const {storage = {}} of Object.values(post))
        for (const slot of Object.keys(storage)) storage[slot] = WRONG;
    }),
  ],
  [
    "leaves slots out, and does not tell what transactions touched",
    (method, result) => (isTouched(method, result) ? "unknown option" : leaveSlotsOut(method, result)),
  ],
  [
    "leaves accounts out",
    alterTraces((post, pre) => {
      for (const [address, {code}] of Object.entries(post))
        if (code !== undefined || !(address in pre)) delete post[address];
    }),
  ],
  ["gives wrong balances", (method, result) => (method === "eth_getBalance" ? "0x63" : result)],
];

const REFUSED =
  "block \\d+: expected state root 0x[0-9a-f]{64} as in its header, its changes give 0x[0-9a-f]{64}: the trace of " +
  "http://127\\.0\\.0\\.1:\\d+ leaves out a change of this block, or has a wrong value\\. Nothing of the block is stored\\. " +
  "Another kind of node or another source may have it";

liveTest("a block of a node that lies in its traces is not stored, and others are served on", live =>
  withFollower([...flagsOf(newStore(), live, [proxy.url]), ...TRACED], async daemon => {
    const sound = await waitForChain(daemon, live);
    await waitForState(daemon, "following");
    proxy.alter = (LIES[0] as (typeof LIES)[0])[1];
    await live.grow(2);
    await waitForState(daemon, "failed");
    const [status, text] = await readReadiness(daemon);
    assert.equal(status, 503);
    assert.match(text, new RegExp(`^the import has failed: ${REFUSED}\n$`));
    await waitForMetric(daemon, "proofd_import_retries_total 2");
    await live.grow(1);
    await waitForHead(daemon, sound);
    await compareBlocks(daemon, live, sound);
    assert.equal((await readReadiness(daemon))[0], 503);
    assert.equal(readLog(daemon, FAILED).length, 1, daemon.stderr);
    proxy.alter = undefined;
    const latest = await waitForChain(daemon, live);
    await waitForState(daemon, "following");
    await compareBlocks(daemon, live, latest);
    assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
    // An answer that was under way when the node's lies ended may be refused once more.
    assert.equal(readLog(daemon, RECOVERED).length, readLog(daemon, FAILED).length);
  }),
);

for (const [what, alter] of LIES.slice(1))
  liveTest(`an import from a node that ${what} fails at the first wrong block`, async live => {
    proxy.alter = alter;
    const flags = [...flagsOf(newStore(), live, [proxy.url]), "--source", "trace", "--finalized", "last"];
    const outcome = await importHere(flags);
    assert.match(outcome.ok ? "" : outcome.message, new RegExp(`^${REFUSED}$`));
    assert.deepEqual(outcome.head, {earliest: 0, finalized: 0, latest: 0});
  });

/** Right values of accounts that were there before, which the trace says were removed and made again. */
const lieAboutSenders = alterTraces((post, pre) => {
  for (const [address, {nonce}] of Object.entries(post)) if (nonce !== undefined) delete pre[address];
});

function lieAboutBalance(account: string): NonNullable<FaultyProxy["alter"]> {
  return alterTraces((post, pre) => {
    if (account in post) pre[account] = {balance: "0x0"};
  });
}

/** A block in which an account that has nothing but a balance gets more of it. @returns the account */
async function growBalance({anvil, touched}: LiveChain): Promise<string> {
  const found: string[] = [];
  for (const address of touched.keys()) {
    const ask = (method: string) => anvil.request<string>(method, address, "latest");
    const [balance, nonce, code] = [
      await ask("eth_getBalance"),
      await ask("eth_getTransactionCount"),
      await ask("eth_getCode"),
    ];
    if (balance !== "0x0" && nonce === "0x0" && code === "0x") found.push(address);
  }
  const [from, to] = found as [string, string];
  await anvil.request("anvil_impersonateAccount", from);
  await anvil.request("eth_sendTransaction", {from, to, value: "0x1"});
  await anvil.request("evm_mine");
  return to;
}

liveTest("a block is not stored whose trace says that an account with a nonce was made again", async live => {
  proxy.alter = lieAboutSenders;
  const outcome = await importHere([...flagsOf(newStore(), live, [proxy.url]), "--source", "trace"]);
  assert.match(
    outcome.ok ? "" : outcome.message,
    /^block \d: account 0x[0-9a-f]{40}: the trace of http:.* says that it was removed and made again, but it has no code and a nonce above 0\. Nothing of the block is stored$/,
  );
});

liveTest(
  "that an account with a balance alone was made again is asked of another node, or counted",
  async (live, t) => {
    const account = await growBalance(live);
    // Nobody signed its transaction.
    t.after(() => live.cut(1));
    proxy.alter = lieAboutBalance(account);
    const flags = [...flagsOf(newStore(), live, [proxy.url, live.anvil.url]), "--source", "trace"];
    const outcome = await importHere(flags);
    assert.match(
      outcome.ok ? "" : outcome.message,
      new RegExp(
        `^block \\d+: account ${account}: the trace of ${proxy.url} says that it was removed and made again, and`,
      ),
    );
    await withFollower([...flagsOf(newStore(), live, [proxy.url]), ...TRACED], async daemon => {
      const latest = await waitForChain(daemon, live);
      assert.equal(await daemon.readMetric("proofd_source_open_resets_total"), 1);
      const {openResets} = (await daemon.call("chain_getCoverage", [])).result;
      assert.deepEqual(
        openResets,
        [latest, latest].map(block => `0x${block.toString(16)}`),
      );
    });
    // The node that does not lie is asked first once the other one was refused.
    await withFollower([...flags, "--finalized", "0"], async daemon => {
      const latest = await waitForChain(daemon, live);
      assert.equal(await daemon.readMetric("proofd_source_open_resets_total"), 0);
      assert.equal((await daemon.call("chain_getCoverage", [])).result.openResets, null);
      const honest = newStore();
      await mustImport([...flagsOf(honest, live, [live.anvil.url]), "--source", "trace"]);
      assert.deepEqual(await compareBlocks(daemon, live, latest), await readStoredRoots(honest));
    });
  },
);

liveTest(
  "what traces leave out or get wrong is read back, if the node tells what transactions touched",
  async live => {
    for (const [what, alter] of LIES.slice(0, 3)) {
      const db = newStore();
      proxy.alter = (method, result) => (hasDiffs(result) ? alter(method, result) : result);
      await mustImport([...flagsOf(db, live, [proxy.url]), "--source", "trace"]);
      assert.deepEqual(await readStoredRoots(db), await importRoots(live), what);
    }
  },
);

liveTest(
  "when the first node is down the second is followed, and nothing is removed for one that lags",
  async live => {
    const switched = await FaultyProxy.start(live.anvil.url, 1, ["unavailable"]);
    const other = await live.copy();
    const common = await live.height();
    await withFollower(flagsOf(newStore(), live, [switched.url, other.url]), async daemon => {
      const latest = await live.grow(2);
      await waitForChain(daemon, live);
      switched.share = 1;
      await daemon.waitForStderr(new RegExp(`"node":"${other.url}","state":"up"`));
      await daemon.waitForStderr(new RegExp(`"node":"${switched.url}","state":"down"`));
      assert.match((await readReadiness(daemon))[1], new RegExp(`the node ${switched.url} is down: .*503`));
      assert.equal(await daemon.readMetric('proofd_head_block{which="latest"}'), latest);
      assert.doesNotMatch(daemon.stderr, /reorganised/);
      // The second node takes another way: it is the only one that answers, so its chain is followed, as a whole.
      await other.request("anvil_mine", "0x5");
      const newest = await other.request<{readonly hash: string}>("eth_getBlockByNumber", "latest", false);
      await waitForHash(daemon, common + 5, newest.hash);
      await compareBlocks(daemon, {anvil: other}, common + 5);
      switched.share = 0;
      await live.grow(6);
      const grown = await waitForChain(daemon, live);
      await compareBlocks(daemon, live, grown);
    });
    await switched.stop();
    await other.stop();
  },
);

/** Faults by the methods that can have them: any method where there is no pattern. NodeCaller's tests have those of HTTP and JSON. */
const METHODS = {
  cut: /^/,
  unavailable: /^/,
  internalError: /^/,
  otherHash: /^eth_getBlockBy/,
  otherChain: /^eth_chainId$/,
  missingBlock: /^(eth_getBlock(By|Receipts)|debug_(getRawBlock|traceBlock)|trace_replayBlock)/,
} as const;
type Fault = keyof typeof METHODS;

type ReceivedAnswer = {readonly id: unknown; result?: unknown; error?: object};

const PRECISION = 1_000_000;

/**
 * A proxy in front of a node that spoils some of the answers. The choices follow from the seed and the order of the requests: the n-th
 * request meets the n-th choice. A fault that a request cannot have, such as otherChain without eth_chainId, is not chosen.
 */
class FaultyProxy {
  /** Of the requests that meet a fault, 0 to 1. */
  share = 0;
  /** Returns what is answered in place of the node's result: that of a node that lies. */
  alter: ((method: string, result: unknown) => unknown) | undefined;
  private readonly random: ReturnType<typeof xoroshiro128plus>;

  private constructor(
    private readonly proxy: ForwardingProxy,
    seed: number,
    private readonly faults: readonly Fault[],
  ) {
    this.random = xoroshiro128plus(seed);
    proxy.change = (request, forward) => this.answer([request.call].flat(), forward);
  }

  static async start(
    target: string,
    seed: number,
    faults = Object.keys(METHODS) as Fault[],
  ): Promise<FaultyProxy> {
    return new FaultyProxy(await ForwardingProxy.to(target), seed, faults);
  }

  get url(): string {
    return this.proxy.url.origin;
  }

  stop(): Promise<void> {
    return this.proxy.stop();
  }

  private async answer(
    calls: readonly UpstreamRequest["call"][],
    forward: () => Promise<ForwardedAnswer>,
  ): Promise<ForwardedAnswer | undefined> {
    const fault = this.choose(calls);
    if (fault === "cut") return undefined;
    if (fault === "unavailable") return {status: 503, type: "text/plain", body: Buffer.of()};
    // The node may be down by now.
    const received = await forward().catch(() => undefined);
    if (received === undefined) return undefined;
    const answers = JSON.parse(received.body.toString()) as ReceivedAnswer | ReceivedAnswer[];
    for (const answer of [answers].flat()) {
      const method = calls.find(({id}) => id === answer.id)?.method;
      if (fault === "internalError") {
        answer.result = undefined;
        answer.error = {code: -32603, message: "Internal error"};
      } else if (method !== undefined && "result" in answer) {
        const altered = this.alter === undefined ? answer.result : this.alter(method, answer.result);
        answer.result = spoil(altered, method, fault);
      }
    }
    return {...received, body: Buffer.from(JSON.stringify(answers))};
  }

  private choose(calls: readonly UpstreamRequest["call"][]): Fault | undefined {
    // Two numbers for each request, whether it meets a fault or not, so that the next request's do not depend on it.
    const [share, place] = [0, 1].map(() => uniformInt(this.random, 0, PRECISION - 1)) as [number, number];
    if (share >= this.share * PRECISION) return undefined;
    const possible = this.faults.filter(fault => calls.some(({method}) => METHODS[fault].test(method)));
    return possible[place % possible.length];
  }
}

function spoil(result: unknown, method: string, fault: Fault | undefined): unknown {
  if (fault === undefined || !METHODS[fault].test(method)) return result;
  if (fault === "missingBlock") return null;
  if (fault === "otherChain") return "0xdead";
  // A block that the node does not have stays null.
  if (typeof result !== "object" || result === null) return result;
  const hash = String((result as {hash?: unknown}).hash);
  return {...result, hash: hash.slice(0, -1) + (hash.endsWith("0") ? "1" : "0")};
}
