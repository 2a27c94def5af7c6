/** Flags of `proofd serve`, and the options of the service that follow from them. */
import {availableParallelism} from "node:os";
import type {Command, OptionValues} from "commander";
import {HTTP_LIBRARIES} from "../../server/listener/createListener.ts";
import type {ServiceOptions} from "../../service/serviceOptions.ts";
import {ESTIMATE_FLAGS, readEstimateOptions} from "./estimateFlags.ts";
import {FEED_FLAGS, readFeed} from "./feedFlags.ts";
import {FINALITY_FLAGS, readFinality} from "./finalityFlags.ts";
import {
  integerParser,
  listParser,
  MAX_WORKERS,
  parseHostName,
  parseNetwork,
  parseOrigin,
  parseText,
} from "./flag.ts";
import {beside, headed, idleWhen, onSwitch, type ValuesOf, value, without} from "./flagTable.ts";
import {LIMIT_FLAGS, readLimits} from "./limitFlags.ts";
import {NAMESPACE_FLAG} from "./namespaceFlag.ts";
import {readNodes, refuseSockets} from "./nodeFlags.ts";
import {GENESIS_FLAG, isOnlyFinality, NODE_SOURCE_FLAGS, readNodeSource, unread} from "./nodeSourceFlags.ts";
import {
  ALLOW_UNVERIFIED_FLAG,
  CHAIN_FLAGS,
  CONFIG_FLAG,
  DB_FLAGS,
  FINALIZED_FLAG,
  HISTORY_FLAG,
} from "./storeFlags.ts";

/** 30 years. */
const MAX_LAG_SECONDS = 1_000_000_000;
const WORKERS = Math.max(1, availableParallelism() - 1);
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export const SERVE_FLAGS = {
  ...headed("Store", DB_FLAGS),
  ...CHAIN_FLAGS,
  history: HISTORY_FLAG,
  verify: onSwitch("compare the checksums of all tables in the background after the start"),
  config: CONFIG_FLAG,
  ...headed("Server", {
    host: value("<address>", parseText, "127.0.0.1").says("address to listen on"),
  }),
  port: value("<port>", integerParser(0, 65_535), 8545).says("port to listen on; 0 takes a free port"),
  http: value("<library>", HTTP_LIBRARIES, "auto").says(
    "what serves HTTP: uWebSockets.js (uws) or Node's own (node); auto takes uWebSockets.js where it loads",
  ),
  workers: value("<count>", integerParser(1, MAX_WORKERS), WORKERS, `cores - 1, here ${WORKERS}`).says(
    "number of proof threads",
  ),
  cacheMb: value("<mib>", integerParser(1, 65_536), 64).says(
    "MiB of pages and key positions that each proof and estimate thread keeps",
  ),
  ...idleWhen(besideNodes, {
    ...headed("Blocks", {
      demo: onSwitch("import and serve the built-in demo chain; all its blocks are finalized"),
    }),
    diffs: value("<file>", parseText).says(
      "import block differences, JSON lines (docs/importing.md), while serving; - reads standard input",
    ),
  }),
  ...NODE_SOURCE_FLAGS,
  ...idleWhen(unread, {genesis: GENESIS_FLAG}),
  ...idleWhen(without("diffs", "l2", "feed"), {
    allowUnverified: ALLOW_UNVERIFIED_FLAG,
    finalized: FINALIZED_FLAG,
    maxLag: value("<seconds>", integerParser(1, MAX_LAG_SECONDS)).says(
      "fail /readyz while the newest block is older than this, or when the source of --diffs or --l2 has ended or failed",
    ),
  }),
  maxFinalityLag: value("<seconds>", integerParser(1, MAX_LAG_SECONDS)).says(
    "fail /readyz while the newest finalized block is older than this",
  ),
  ...headed("Several machines", FEED_FLAGS),
  ...headed("Finality", FINALITY_FLAGS),
  ...headed("Who may ask, and how", {
    cors: value("<origin>", listParser(parseOrigin)).says(
      "let web pages of this origin ask from a browser; * for any origin; may be given several times",
    ),
  }),
  allowHost: value("<name>", listParser(parseHostName)).says(
    "let requests call the server by this name besides localhost; * for any name; may be given several times; default: any name, unless --host is loopback",
  ),
  trustForwarded: value("<networks>", listParser(parseNetwork)).says(
    "addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For names the client; anybody who asks from them can name any",
  ),
  balanced: onSwitch(
    "answer HTTP 503 with X-Proofd-Head to requests that name a block that is not here yet, so that a balancer asks another proofd",
  ),
  namespace: NAMESPACE_FLAG,
  ...headed("Limits", LIMIT_FLAGS),
  ...headed("Gas estimates", ESTIMATE_FLAGS),
  ...headed("Logs", {
    logLevel: value("<level>", LOG_LEVELS, "info").says(
      "log entries of this level and above to standard error; debug has a line for each request",
    ),
  }),
};

function besideNodes(values: OptionValues): string | undefined {
  return isOnlyFinality(values) ? undefined : beside("l2")(values);
}

/** @param command - ends the program with a usage error for a bad URL or header, or flags that are missing */
export function readServiceOptions(values: ValuesOf<typeof SERVE_FLAGS>, command: Command): ServiceOptions {
  const {db, host, port, http, workers, cacheMb, diffs, allowUnverified, finalized} = values;
  const {maxLag, maxFinalityLag, demo, verify} = values;
  const {chainId, suite, cors = [], allowHost = [], namespace, history, trustForwarded, balanced} = values;
  const nodes = readNodes(values, "l2", command);
  if (isOnlyFinality(values) && nodes !== undefined) refuseSockets(nodes, command, "with --diffs");
  return {
    ...{db, host, port, workers, diffs, allowUnverified, finalized, demo, verify},
    ...{chainId, suite, cors, namespace, history, trustForwarded, http, isBalanced: balanced},
    ...readFeed(values, command),
    cacheBytes: cacheMb * 2 ** 20,
    l2: readNodeSource(values, true, command),
    maxLagSeconds: maxLag,
    maxFinalityLagSeconds: maxFinalityLag,
    finality: readFinality(values, readNodes(values, "l1", command), nodes, command),
    allowedHosts: allowHost,
    limits: readLimits(values),
    estimate: readEstimateOptions(values, command),
  };
}
