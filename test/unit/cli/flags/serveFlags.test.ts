/** Each flag of `proofd serve` reaches its option of the service. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../../cli/flags/serveOptions.ts";
import {DEFAULT_LIMITS} from "../../../../server/limits.ts";
import type {ServiceOptions} from "../../../../service/serviceOptions.ts";
import {readFlags} from "../../../support/run/flagReading.ts";

const [L1, L2] = ["http://127.0.0.1:1/", "http://127.0.0.1:2/"];
const CONTRACT = Buffer.alloc(20, 0xab);

function read(...lines: readonly string[]): ServiceOptions {
  return readFlags(SERVE_FLAGS, readServiceOptions, lines.join(" ").split(" "));
}

test("flags of the store, the server, the nodes and finality", () => {
  const {estimate, limits, l2, finality, ...options} = read(
    "--db d --host ::1 --port 1 --workers 2 --cache-mb 3 --cors * --allow-host a --allow-host b --namespace n",
    `--l2 ${L2} --source trace --allow-unverified --genesis g --finalized 5 --max-lag 6 --max-finality-lag 7 --history 8`,
    `--l1 ${L1} --rollup 0x${CONTRACT.toString("hex")} --l1-from 10 --l1-depth 11 --l1-root none`,
    "--verify --chain-id 12 --suite poseidon2 --trust-forwarded 10.0.0.0/8,::1 --http node",
  );
  assert.deepEqual(options, {
    ...{db: "d", host: "::1", port: 1, workers: 2, cacheBytes: 3 << 20},
    http: "node",
    ...{
      cors: ["*"],
      allowedHosts: ["a", "b"],
      namespace: "n",
      isBalanced: false,
      trustForwarded: ["10.0.0.0/8", "::1"],
    },
    ...{diffs: undefined, feed: undefined, publish: undefined},
    ...{allowUnverified: true, finalized: 5, maxLagSeconds: 6, maxFinalityLagSeconds: 7},
    ...{history: {kind: "newest", blocks: 8}, demo: false, verify: true, chainId: 12n, suite: "poseidon2"},
  });
  assert.deepEqual(
    {...l2, nodes: l2?.nodes.urls.map(String)},
    {
      ...{kind: "node", source: "trace", nodes: [L2], subscriptions: [], surveyAfterMs: 0},
      ...{genesisPath: "g", follow: true, to: undefined},
    },
  );
  assert.ok(finality?.source === "l1");
  const {nodes, layer2, rollup, pollMs} = finality;
  assert.deepEqual(
    [nodes, layer2].map(one => one?.urls.map(String)),
    [[L1], [L2]],
  );
  assert.deepEqual(rollup, {contract: new Uint8Array(CONTRACT), from: 10, depth: 11, root: "none"});
  assert.equal(pollMs, 12_000);
});

test("files, the demo chain, and finality that nothing here tells", () => {
  const {diffs, finalized} = read("--db d --diffs f --finalized last");
  assert.deepEqual({diffs, finalized}, {diffs: "f", finalized: "last"});
  const {demo, maxFinalityLagSeconds} = read("--db d --demo --max-finality-lag 7");
  assert.deepEqual({demo, maxFinalityLagSeconds}, {demo: true, maxFinalityLagSeconds: 7});
});

test("flags of limits", () => {
  const {limits} = read("--db d --max-queue 7 --request-timeout 9");
  assert.deepEqual(limits, {...DEFAULT_LIMITS, queueCost: 7, timeoutMs: 9});
});

test("a service publishes to NATS, or takes blocks from there", () => {
  const {publish} = read("--publish nats://a:1,tls://b:2 --publish nats://c:3 --stream s --stream-gb 3");
  assert.deepEqual(publish, {
    nats: {urls: ["nats://a:1", "tls://b:2", "nats://c:3"], credsPath: undefined},
    stream: "s",
    rules: {replicas: 3, maxAgeMs: 604_800_000, maxBytes: 3e9},
    snapshots: {every: 10_000, bytesPerSecond: 50_000_000},
  });
  const {feed} = read("--feed nats://a:1");
  assert.deepEqual(feed, {
    kind: "feed",
    nats: {urls: ["nats://a:1"], credsPath: undefined},
    stream: "blocks",
    client: "proofd replica",
  });
  for (const [args, message] of [
    ["--feed nats://a:1 --diffs f", /--feed has no effect with --diffs/],
    ["--feed nats://a:1 --demo", /--feed has no effect with --demo/],
    ["--feed http://a:1", /Expected nats or tls URLs/],
    ["--publish nats://a:1 --stream a.b", /Expected 1 to 64 letters/],
    ["--stream s", /--stream has no effect without --publish or --feed/],
    ["--feed nats://a:1 --stream-gb 5", /--stream-gb has no effect without --publish/],
    ["--feed nats://a:1 --nats-creds /none", /--nats-creds: cannot read \/none/],
  ] as const)
    assert.throws(() => read(args), {message}, args);
});
