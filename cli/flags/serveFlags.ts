/** The flags of `proofd serve`. */
import {availableParallelism} from "node:os";
import {DEFAULT_LIMITS} from "../../server/limits.ts";
import {HTTP_LIBRARIES} from "../../server/listener/createListener.ts";
import {DEFAULT_ESTIMATE_SETTINGS, HARDFORKS} from "../../workers/messages/estimateSettings.ts";
import {headed, onSwitch, value} from "./flagTable.ts";
import {
  integerParser,
  listParser,
  MAX_WORKERS,
  parseAddress,
  parseBlockNumber,
  parseHostName,
  parseMethodName,
  parseNamespace,
  parseNatsUrl,
  parseNetwork,
  parseOrigin,
  parseSliced,
  parseStreamName,
  parseText,
} from "./flagValues.ts";
import {createNodeFlags} from "./nodeFlags.ts";
import {
  ALLOW_UNVERIFIED_FLAG,
  CHAIN_FLAGS,
  CONFIG_FLAG,
  DB_FLAGS,
  FINALIZED_FLAG,
  HISTORY_FLAG,
  READS_L2,
  SOURCE_FLAG,
} from "./sharedFlags.ts";

/** 30 years. */
const MAX_LAG_SECONDS = 1_000_000_000;
const MAX_DEPTH = 1_000_000;
/** The gas of a plain transfer. */
const LEAST_GAS_CAP = 21_000;
const WORKERS = Math.max(1, availableParallelism() - 1);
const ESTIMATE_WORKERS = Math.max(1, Math.floor((availableParallelism() - 1) / 2));
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
/** How log lines write times and levels. */
export const LOG_FORMATS = ["numbers", "names"] as const;
const ROLLUP_IS_READ = "finality | l1, !finality=tag";

export const SERVE_FLAGS = {
  ...headed("Store", {
    ...DB_FLAGS,
    ...CHAIN_FLAGS,
    history: HISTORY_FLAG,
    checkStore: onSwitch("compare the checksums of all tables in the background after the start"),
    config: CONFIG_FLAG,
  }),
  ...headed("Server", {
    host: value("<address>", parseText, "127.0.0.1").says("address to listen on"),
    port: value("<port>", integerParser(0, 65_535), 8545).says("port to listen on; 0 takes a free port"),
    metricsPort: value("<port>", integerParser(0, 65_535)).says(
      "port for /metrics, /healthz, and /readyz with causes; 0 takes a free one; default: /metrics is on --port if --host is loopback, else disabled",
    ),
    http: value("<library>", HTTP_LIBRARIES, "auto").says(
      "HTTP server: uWebSockets.js (uws) or Node's own (node); auto uses uWebSockets.js where it loads",
    ),
    workers: value("<count>", integerParser(1, MAX_WORKERS), WORKERS, `cores - 1, here ${WORKERS}`).says(
      "number of proof threads",
    ),
    cacheMb: value("<mib>", integerParser(1, 65_536), 64).says(
      "cache of each proof and estimate thread, in MiB",
    ),
  }),
  ...headed("Blocks", {
    demo: onSwitch("import and serve the built-in demo chain; all its blocks are finalized", "!l2"),
    diffs: value("<file>", parseText).says(
      "import block differences, JSON lines (docs/importing.md), while serving; - reads standard input",
      "!l2 | finality=tag",
    ),
    ...createNodeFlags("l2"),
    source: SOURCE_FLAG,
    genesis: value("<file>", parseText).says("genesis.json with its alloc, in the format of geth", READS_L2),
    contracts: value("<addresses>", listParser(parseSliced)).says(
      "store slices of these contracts instead of the whole chain (docs/slices.md), comma-separated; ADDRESS:whole also stores all slots that it has at the start",
      "l2, !diffs, !source",
    ),
    sliceFetches: value("<count>", integerParser(0, 10_000), 20).says(
      "in a store of slices: most requests a second to the node for slots that no block has written since the start; 0: none",
      "l2, !diffs",
    ),
    ...createNodeFlags("l2Archive", "contracts"),
    sliceFrom: value("<block>", parseBlockNumber).says(
      "begin an empty store of slices with this block, read from --l2-archive, instead of the node's newest one",
      "contracts, l2-archive",
    ),
    allowUnverified: {...ALLOW_UNVERIFIED_FLAG, needs: "diffs | l2 | feed"},
    finalized: {...FINALIZED_FLAG, needs: "diffs | l2 | feed"},
    maxFinalityLag: value("<seconds>", integerParser(1, MAX_LAG_SECONDS)).says(
      "fail /readyz while the newest finalized block is older than this",
    ),
  }),
  ...headed("Several machines", {
    publish: value("<url>", listParser(parseNatsUrl)).says(
      "publish blocks to NATS JetStream for replicas; nats or tls URLs of one cluster, comma-separated",
    ),
    feed: value("<url>", listParser(parseNatsUrl)).says(
      "read blocks from NATS JetStream, where another proofd publishes them; URLs as for --publish",
      "!demo, !l2, !diffs",
    ),
    stream: value("<name>", parseStreamName, "blocks").says("name of the stream", "publish | feed"),
    natsCreds: value("<file>", parseText).says("NATS credentials file", "publish | feed"),
    streamGb: value("<gb>", integerParser(1, 100_000)).says(
      "size limit of a stream that --publish creates; the oldest messages are removed first; default: what fits, at most 50",
      "publish",
    ),
    snapshotEvery: value("<blocks>", integerParser(0, 1_000_000_000), 10_000).says(
      "blocks between two snapshots for new replicas; 0 uploads none",
      "publish",
    ),
  }),
  ...headed("Finality", {
    ...createNodeFlags("l1", "!finality=tag"),
    finality: value("<source>", ["l1", "tag"]).says(
      "where finality comes from: events on layer 1 (l1, the default with --l1) or the finalized tag of --l2 (tag)",
    ),
    rollup: value("<address>", parseAddress).says(
      "rollup contract on layer 1 whose events finalize blocks",
      ROLLUP_IS_READ,
    ),
    l1From: value("<block>", parseBlockNumber).says(
      "first layer-1 block whose events are read; default: the block of the contract's deployment. Changing it restarts the finality scan",
      ROLLUP_IS_READ,
    ),
    l1Depth: value("<blocks>", integerParser(0, MAX_DEPTH)).says(
      "confirmations before a layer-1 block is read; default: layer 1's finalized block",
      ROLLUP_IS_READ,
    ),
    l1Root: value("<root>", ["header", "suite", "none"]).says(
      "which state root the contract records: the header's, that of the hash suite's trees, or none that can be compared; default: detected from the first event",
      ROLLUP_IS_READ,
    ),
  }),
  ...headed("Access control", {
    cors: value("<origin>", listParser(parseOrigin)).says(
      "allow web pages of this origin (CORS); * for any origin; may be repeated",
    ),
    allowHost: value("<name>", listParser(parseHostName)).says(
      "accept this name in the Host header besides localhost; * for any name; may be repeated; default: any name, unless --host is loopback",
    ),
    trustForwarded: value("<networks>", listParser(parseNetwork)).says(
      "addresses or networks of proxies, such as 10.0.0.0/8, whose X-Forwarded-For is trusted; clients there can spoof addresses",
    ),
    balanced: onSwitch(
      "answer HTTP 503 with X-Proofd-Head if a request names a block that it does not have yet, so that a load balancer retries on another proofd",
    ),
    namespace: value("<name>", parseNamespace).says(
      "also serve NAME_getProof, NAME_estimateGas and rollup_getZkEVMBlockNumber, as the network's own server does; linea adds linea_getProof",
    ),
  }),
  ...headed("Limits", {
    maxQueue: value("<cost>", integerParser(1, 1_000_000_000), DEFAULT_LIMITS.queueCost).says(
      "limit on the cost of a client's unfinished requests, for proofs, estimates and long estimates each; requests above it get HTTP 503",
    ),
    requestTimeout: value("<ms>", integerParser(1, 86_400_000), DEFAULT_LIMITS.timeoutMs).says(
      "timeout of a request; its unfinished calls get an error",
    ),
  }),
  ...headed("Other methods", {
    gateway: value("<url>", String).says(
      "forward calls that proofd cannot answer, such as eth_getLogs, or eth_call at latest, to this node (docs/json-rpc.md)",
    ),
    gatewayMethods: value("<names>", listParser(parseMethodName)).says(
      "also forward these methods, such as eth_sendRawTransaction, comma-separated",
      "gateway",
    ),
  }),
  ...headed("Gas estimates", {
    estimateWorkers: value(
      "<count>",
      integerParser(0, MAX_WORKERS),
      ESTIMATE_WORKERS,
      `half of cores - 1, here ${ESTIMATE_WORKERS}`,
    ).says(
      "number of threads for short estimates and calls; half as many run long ones; with 0, both are forwarded to --gateway, or refused",
    ),
    gasCap: value("<gas>", integerParser(LEAST_GAS_CAP, 2 ** 32), DEFAULT_ESTIMATE_SETTINGS.gasCap).says(
      "highest gas that an estimate may return",
      "!estimate-workers=0",
    ),
    hardfork: value("<name>", HARDFORKS).says(
      "hard fork whose rules apply to every block; default: as the genesis config says",
      "!estimate-workers=0",
    ),
    fees: value("<file>", parseText).says(
      "JSON file with the parameters of the priority fee (docs/gas.md)",
      "!estimate-workers=0",
    ),
  }),
  ...headed("Logs", {
    logLevel: value("<level>", LOG_LEVELS, "info").says(
      "write log entries of this level and above to standard error; debug logs each request",
    ),
    logFormat: value("<format>", LOG_FORMATS, "numbers").says(
      "time and level in log lines: numbers (ms since 1970; 30 is info) or names (ISO 8601; info)",
    ),
  }),
};
