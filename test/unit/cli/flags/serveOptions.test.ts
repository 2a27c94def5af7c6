/** Each flag of `proofd serve` reaches its option of the service. */
import assert from "node:assert/strict";
import {availableParallelism} from "node:os";
import {test} from "node:test";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../../cli/flags/serveOptions.ts";
import type {FinalityOptions, ServiceOptions} from "../../../../server/lifecycle/serviceOptions.ts";
import {DEFAULT_LIMITS} from "../../../../server/limits.ts";
import type {EstimateSettings} from "../../../../workers/messages/estimateSettings.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";

const [L1, L2] = ["http://127.0.0.1:1/", "http://127.0.0.1:2/"];
const CONTRACT = Buffer.alloc(20, 0xab);

function read(...lines: readonly string[]): ServiceOptions {
  return readFlags(SERVE_FLAGS, readServiceOptions, lines.join(" ").split(" "));
}

test("flags of the store, the server, the nodes, finality and estimates", () => {
  const {estimate, limits, l2, finality, gateway, ...options} = read(
    "--db d --slice-fetches 3 --host ::1 --port 1 --metrics-port 9 --workers 2 --cache-mb 3 --cors * --allow-host a --allow-host b --namespace n",
    `--l2 ${L2} --source trace --allow-unverified --genesis g --finalized 5 --max-finality-lag 7 --history 8`,
    `--l1 ${L1} --rollup 0x${CONTRACT.toString("hex")} --l1-from 10 --l1-depth 11 --l1-root none`,
    "--check-store --chain-id 12 --suite poseidon2 --trust-forwarded 10.0.0.0/8,::1 --http node",
    "--gas-cap 21000 --hardfork cancun --estimate-workers 3 --gateway http://a --gateway-methods eth_x",
  );
  assert.deepEqual(options, {
    ...{db: "d", host: "::1", port: 1, metricsPort: 9, workers: 2, cacheBytes: 3 << 20},
    http: "node",
    ...{
      cors: ["*"],
      allowedHosts: ["a", "b"],
      namespace: "n",
      isBalanced: false,
      sliceFetches: 3,
      trustForwarded: ["10.0.0.0/8", "::1"],
    },
    ...{diffs: undefined, feed: undefined, publish: undefined},
    ...{allowUnverified: true, finalized: 5, maxFinalityLagSeconds: 7},
    ...{history: {kind: "newest", blocks: 8}, demo: false, verify: true, chainId: 12n, suite: "poseidon2"},
    gatewayMethods: ["eth_x"],
  });
  assert.equal(gateway?.href, "http://a/");
  assert.deepEqual(
    {...l2, nodes: l2?.nodes.urls.map(String)},
    {
      ...{kind: "node", source: "trace", nodes: [L2], subscriptions: [], surveyAfterMs: 0},
      ...{
        genesisPath: "g",
        follow: true,
        to: undefined,
        contracts: undefined,
        archive: undefined,
        sliceFrom: undefined,
      },
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
  const settings = {...DEFAULTS, gasCap: 21_000, hardfork: "cancun"};
  assert.deepEqual(estimate, {settings, workers: 3});
});

test("files, the demo chain and limits", () => {
  const {diffs, finalized} = read("--db d --diffs f --finalized last");
  assert.deepEqual({diffs, finalized}, {diffs: "f", finalized: "last"});
  const {demo, limits} = read("--db d --demo --max-queue 7 --request-timeout 9");
  assert.deepEqual([demo, limits], [true, {...DEFAULT_LIMITS, queueCost: 7, timeoutMs: 9}]);
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
});

const ADDRESS = `0x${"ab".repeat(20)}`;
const LAYER_1 = ["--l1", "http://127.0.0.1:1"];
const LAYER_2 = ["--l2", "http://127.0.0.1:2"];

function readFinality(args: readonly string[]): FinalityOptions | undefined {
  return readFlags(SERVE_FLAGS, readServiceOptions, args).finality;
}

test("--l1 alone means its events, and without a source nothing is asked", () => {
  assert.equal(readFinality([...LAYER_1, "--rollup", ADDRESS])?.source, "l1");
  assert.equal(readFinality([...LAYER_2, "--finality", "tag"])?.source, "tag");
  assert.equal(readFinality(LAYER_2), undefined);
});

test("flags that are missing, wrong or have no effect are refused and say why", () => {
  const [l1, l2] = [LAYER_1.join(" "), LAYER_2.join(" ")];
  for (const [line, message] of [
    ["--finality l1", /--finality l1 needs --l1/],
    [l1, /--l1 needs --rollup/],
    [`${l1} ${l2} --finality tag`, /--l1 has no effect with --finality tag/],
    ["--finality tag", /--finality tag needs --l2/],
    ["--finality manual", /Allowed choices are l1, tag/],
    [`--rollup ${ADDRESS}`, /--rollup has no effect without --finality or --l1/],
    [`${l2} --finality tag --l1-depth 1`, /--l1-depth has no effect with --finality tag/],
    [`${l1} --rollup 0x12`, /Expected an address/],
    ["--feed nats://a:1 --diffs f", /--feed has no effect with --diffs/],
    ["--feed nats://a:1 --demo", /--feed has no effect with --demo/],
    ["--feed http://a:1", /Expected nats or tls URLs/],
    ["--publish nats://a:1 --stream a.b", /Expected 1 to 64 letters/],
    ["--stream s", /--stream has no effect without --publish or --feed/],
    ["--feed nats://a:1 --stream-gb 5", /--stream-gb has no effect without --publish/],
    ["--feed nats://a:1 --nats-creds /none", /--nats-creds: cannot read \/none/],
    ["--gateway-methods eth_x", /--gateway-methods has no effect without --gateway/],
    [
      "--gateway http://x --gateway-methods eth_x,y",
      /Expected names of methods, such as eth_sendRawTransaction/,
    ],
    [
      "--gateway http://x --gateway-methods eth_x,eth_getLogs",
      /--gateway-methods: eth_getLogs is answered or/,
    ],
    ["--gateway http://x --gateway-methods chain_getProof", /chain_getProof is answered or forwarded/],
    ["--gateway http://x --namespace a --gateway-methods a_getProof", /a_getProof is answered or forwarded/],
    ["--estimate-workers 0 --gas-cap 30000", /--gas-cap has no effect with --estimate-workers 0/],
    ["--estimate-workers 0 --hardfork london", /--hardfork has no effect/],
    ["--estimate-workers 0 --fees f", /--fees has no effect with --estimate-workers 0/],
    ["--gas-cap 20999", /Expected a whole number from 21000 to 4294967296/],
    ["--gas-cap 4294967297", /Expected a whole number/],
    ["--hardfork istanbul", /Allowed choices are berlin,/],
    ["--hardfork London", /Allowed choices/],
    ["--hardfork amsterdam", /argument .amsterdam. is invalid. Allowed choices are .*, osaka\./],
    ["--estimate-workers 257", /Expected a whole number from 0 to 256/],
  ] as const)
    assertRefused(line.split(" "), message);
});

const DEFAULTS: EstimateSettings = {
  gasCap: 50_000_000,
  timeMs: 2000,
  gasTolerance: 0.015,
  hardfork: undefined,
  fee: {
    model: "verification",
    minMargin: "1.0",
    verificationGasCost: 1_200_000n,
    verificationCapacity: 90_000n,
    gasPriceRatio: "15",
    gasPriceAdjustment: 0n,
    minGasPrice: 10_000_000n,
    fixedCost: 30_000_000n,
    variableCost: 10_000_000n,
    packAlign: false,
  },
};

function readAll(args: readonly string[], variables: Readonly<Record<string, string>> = {}): ServiceOptions {
  return readFlags(SERVE_FLAGS, readServiceOptions, args, variables);
}

function readEstimates(args: readonly string[], variables = {}): ServiceOptions["estimate"] {
  return readAll(args, variables).estimate;
}

function assertRefused(args: readonly string[], message: RegExp, variables = {}): void {
  assertUsageError(() => readEstimates(args, variables), message);
}

test("without flags estimates have the default settings", () => {
  const {settings, workers} = readEstimates([]);
  assert.deepEqual(settings, DEFAULTS);
  assert.equal(workers, Math.max(1, Math.floor((availableParallelism() - 1) / 2)));
});

test("--estimate-workers 0 switches estimates off, as flag or variable", () => {
  assert.equal(readEstimates(["--estimate-workers", "0"]).workers, 0);
  assert.equal(readEstimates([], {PROOFD_ESTIMATE_WORKERS: "0"}).workers, 0);
});

test("a variable is refused by its own name", () => {
  const message = /variable PROOFD_FEES has no effect with --estimate-workers 0/;
  assertRefused(["--estimate-workers", "0"], message, {PROOFD_FEES: "f"});
  assertRefused([], /value '5' from env 'PROOFD_GAS_CAP' is invalid/, {PROOFD_GAS_CAP: "5"});
});

test("a bad --gateway is refused without showing it, since it may have a password", () => {
  const message = "expected an http or https URL with a host";
  for (const url of ["ftp://me:secret@a", "secret.example", "file:///etc/secret", "http://user:%zz@secret"]) {
    assertRefused(["--gateway", url], new RegExp(`^error: --gateway: ${message}$`));
    assertRefused([], new RegExp(`^error: variable PROOFD_GATEWAY: ${message}$`), {
      PROOFD_GATEWAY: url,
    });
  }
  const {gateway} = readAll(["--gateway", "http://me:word@a"]);
  assert.equal(gateway?.href, "http://me:word@a/");
});
