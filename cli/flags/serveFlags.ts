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
  parseNamespace,
  parseNatsUrl,
  parseNetwork,
  parseOrigin,
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
/** A plain transfer's gas. */
const LEAST_GAS_CAP = 21_000;
const WORKERS = Math.max(1, availableParallelism() - 1);
const ESTIMATE_WORKERS = Math.max(1, Math.floor((availableParallelism() - 1) / 2));
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
/** Of times and levels. */
export const LOG_FORMATS = ["numbers", "names"] as const;
const ROLLUP_IS_READ = "finality | l1, !finality=tag";

export const SERVE_FLAGS = {
  ...headed("Store", {
    ...DB_FLAGS,
    ...CHAIN_FLAGS,
    history: HISTORY_FLAG,
    verify: onSwitch("compare the checksums of all tables in the background after the start"),
    config: CONFIG_FLAG,
  }),
  ...headed("Server", {
    host: value("<address>", parseText, "127.0.0.1").says("address to listen on"),
    port: value("<port>", integerParser(0, 65_535), 8545).says("port to listen on; 0 takes a free port"),
    metricsPort: value("<port>", integerParser(0, 65_535)).says(
      "port for /metrics, /healthz and /readyz; 0 takes a free one; default: /metrics is on --port if --host is loopback, else nowhere",
    ),
    http: value("<library>", HTTP_LIBRARIES, "auto").says(
      "what serves HTTP: uWebSockets.js (uws) or Node's own (node); auto takes uWebSockets.js where it loads",
    ),
    workers: value("<count>", integerParser(1, MAX_WORKERS), WORKERS, `cores - 1, here ${WORKERS}`).says(
      "number of proof threads",
    ),
    cacheMb: value("<mib>", integerParser(1, 65_536), 64).says(
      "MiB of pages and key positions that each proof and estimate thread keeps",
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
    allowUnverified: {...ALLOW_UNVERIFIED_FLAG, needs: "diffs | l2 | feed"},
    finalized: {...FINALIZED_FLAG, needs: "diffs | l2 | feed"},
    maxFinalityLag: value("<seconds>", integerParser(1, MAX_LAG_SECONDS)).says(
      "fail /readyz while the newest finalized block is older than this",
    ),
  }),
  ...headed("Several machines", {
    publish: value("<url>", listParser(parseNatsUrl)).says(
      "publish blocks to NATS JetStream, for other proofd; nats or tls URLs of servers of one cluster, with commas",
    ),
    feed: value("<url>", listParser(parseNatsUrl)).says(
      "take blocks from NATS JetStream, where another proofd publishes them; URLs as for --publish",
      "!demo, !l2, !diffs",
    ),
    stream: value("<name>", parseStreamName, "blocks").says("name of the stream", "publish | feed"),
    natsCreds: value("<file>", parseText).says("file with the credentials of NATS", "publish | feed"),
    streamGb: value("<gb>", integerParser(1, 100_000)).says(
      "most bytes of a stream that --publish makes; the oldest messages go first; default: what fits, 50 at most",
      "publish",
    ),
    snapshotEvery: value("<blocks>", integerParser(0, 1_000_000_000), 10_000).says(
      "blocks from one snapshot for new replicas to the next; 0 uploads none",
      "publish",
    ),
  }),
  ...headed("Finality", {
    ...createNodeFlags("l1", "!finality=tag"),
    finality: value("<source>", ["l1", "tag"]).says(
      "what tells which blocks are finalized: events on layer 1 (l1, the default with --l1) or the finalized tag of --l2 (tag)",
    ),
    rollup: value("<address>", parseAddress).says(
      "rollup contract on layer 1 whose events tell what is finalized",
      ROLLUP_IS_READ,
    ),
    l1From: value("<block>", parseBlockNumber).says(
      "first layer-1 block whose events are read; default: that of the contract's deployment. Another one than before begins finality again",
      ROLLUP_IS_READ,
    ),
    l1Depth: value("<blocks>", integerParser(0, MAX_DEPTH)).says(
      "read layer-1 blocks with this many above them; default: those that layer 1 calls finalized",
      ROLLUP_IS_READ,
    ),
    l1Root: value("<root>", ["header", "suite", "none"]).says(
      "which root of a block the contract holds: that of its header, that of the hash suite's trees, or none that can be compared; default: found by the first event",
      ROLLUP_IS_READ,
    ),
  }),
  ...headed("Who may ask, and how", {
    cors: value("<origin>", listParser(parseOrigin)).says(
      "let web pages of this origin ask from a browser; * for any origin; may be given several times",
    ),
    allowHost: value("<name>", listParser(parseHostName)).says(
      "let requests call the server by this name besides localhost; * for any name; may be given several times; default: any name, unless --host is loopback",
    ),
    trustForwarded: value("<networks>", listParser(parseNetwork)).says(
      "addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For names the client; anybody who asks from them can name any",
    ),
    balanced: onSwitch(
      "answer HTTP 503 with X-Proofd-Head to requests that name a block that is not here yet, so that a balancer asks another proofd",
    ),
    namespace: value("<name>", parseNamespace).says(
      "also serve NAME_getProof, NAME_estimateGas and rollup_getZkEVMBlockNumber, as the live network's own server does; linea adds linea_getProof",
    ),
  }),
  ...headed("Limits", {
    maxQueue: value("<cost>", integerParser(1, 1_000_000_000), DEFAULT_LIMITS.queueCost).says(
      "highest cost of a client's unfinished requests, for proofs, estimates and long estimates each; more get HTTP 503",
    ),
    requestTimeout: value("<ms>", integerParser(1, 86_400_000), DEFAULT_LIMITS.timeoutMs).says(
      "time of one request; calls that are unfinished by then get an error",
    ),
  }),
  ...headed("Gas estimates", {
    estimateWorkers: value(
      "<count>",
      integerParser(0, MAX_WORKERS),
      ESTIMATE_WORKERS,
      `half of cores - 1, here ${ESTIMATE_WORKERS}`,
    ).says(
      "number of threads for short estimates; half as many run long ones; with 0, chain_estimateGas is refused, or forwarded to --gateway",
    ),
    gateway: value("<url>", String).says(
      "with --estimate-workers 0: forward gas estimates to this node",
      "estimate-workers=0",
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
      "log entries of this level and above to standard error; debug has a line for each request",
    ),
    logFormat: value("<format>", LOG_FORMATS, "numbers").says(
      "time and level of log lines: as numbers (ms since 1970; 30 is info), or by names (ISO 8601; info)",
    ),
  }),
};
