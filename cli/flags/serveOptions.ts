/** Turns the flags of `proofd serve` into the options of a service. */
import type {Command} from "commander";
import type {FinalityOptions, ServiceOptions} from "../../server/lifecycle/serviceOptions.ts";
import {DEFAULT_LIMITS} from "../../server/limits.ts";
import {MethodTable} from "../../server/methods/table.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../workers/messages/estimateSettings.ts";
import {readFees} from "./feeFile.ts";
import {readFlagFile, refuseFlag, type ValuesOf} from "./flagTable.ts";
import {readHttpUrl} from "./flagValues.ts";
import {type NodeOptions, readNodeSource, readNodes} from "./nodeFlags.ts";
import type {SERVE_FLAGS} from "./serveFlags.ts";

type ServeValues = ValuesOf<typeof SERVE_FLAGS>;

/** How often finality is polled: once per block of layer 1. */
const POLL_MS = 12_000;
/** With this many servers, the stream has three replicas. With fewer it has one. */
const CLUSTER = 3;
const GB = 1e9;
/** How long a stream that --publish creates keeps messages. A replica that was offline for longer needs a snapshot. */
const STREAM_AGE_MS = 7 * 86_400_000;
/** Of snapshots. Leaves half of a 1 Gbit/s link for blocks. */
const UPLOAD_BYTES_PER_SECOND = 50e6;

export function readServiceOptions(values: ServeValues, command: Command): ServiceOptions {
  const {db, host, port, metricsPort, http, workers, diffs, allowUnverified, finalized, demo} = values;
  const {chainId, contracts, cors = [], namespace, history, trustForwarded, sliceFetches} = values;
  const {gasCap, hardfork} = values;
  const archive = readNodes(values, "l2Archive", command);
  const nodes = readNodes(values, "l2", command);
  // With --diffs, the nodes of --l2 are only asked what is finalized.
  if (contracts !== undefined && values.suite !== undefined && values.suite !== "keccak")
    refuseFlag(command, "suite", `: expected keccak, which --contracts needs, got ${values.suite}`);
  if (diffs !== undefined && nodes !== undefined && nodes.subscriptions.length > 0)
    refuseFlag(
      command,
      "l2",
      ": expected http and https URLs, got a ws or wss URL, which has no effect with --diffs",
    );
  const gateway = values.gateway === undefined ? undefined : readHttpUrl(values.gateway);
  if (values.gateway !== undefined && gateway === undefined)
    refuseFlag(command, "gateway", ": expected an http or https URL with a host");
  const {gatewayMethods = []} = values;
  const answered = new MethodTable(namespace, []);
  const known = gatewayMethods.find(name => answered.find(name) !== undefined);
  if (known !== undefined)
    refuseFlag(command, "gatewayMethods", `: ${known} is answered or forwarded in any case`);
  return {
    ...{db, host, port, metricsPort, workers, diffs, allowUnverified, finalized, demo, chainId},
    ...{cors, namespace, history, trustForwarded, http, sliceFetches},
    ...{verify: values.checkStore, isBalanced: values.balanced, allowedHosts: values.allowHost ?? []},
    ...readFeed(values, command),
    // A new store of slices has no sparse trees.
    suite: values.suite ?? (contracts === undefined ? undefined : "keccak"),
    cacheBytes: values.cacheMb * 2 ** 20,
    l2:
      diffs === undefined && nodes !== undefined
        ? readNodeSource(nodes, {...values, archive}, true)
        : undefined,
    maxFinalityLagSeconds: values.maxFinalityLag,
    finality: readFinality(values, readNodes(values, "l1", command), nodes, command),
    limits: {...DEFAULT_LIMITS, queueCost: values.maxQueue, timeoutMs: values.requestTimeout},
    estimate: {
      settings: {...DEFAULT_ESTIMATE_SETTINGS, gasCap, hardfork, fee: readFees(values.fees, command)},
      workers: values.estimateWorkers,
    },
    ...{gateway, gatewayMethods},
  };
}

function readFeed(values: ServeValues, command: Command): Pick<ServiceOptions, "feed" | "publish"> {
  const {publish, feed, stream, natsCreds: credsPath, streamGb, snapshotEvery} = values;
  if (credsPath !== undefined) readFlagFile(command, "natsCreds", credsPath);
  return {
    publish: publish && {
      nats: {urls: publish, credsPath},
      stream,
      rules: {
        replicas: publish.length >= CLUSTER ? CLUSTER : 1,
        maxAgeMs: STREAM_AGE_MS,
        maxBytes: streamGb === undefined ? undefined : streamGb * GB,
      },
      snapshots: {every: snapshotEvery, bytesPerSecond: UPLOAD_BYTES_PER_SECOND},
    },
    feed: feed && {kind: "feed", nats: {urls: feed, credsPath}, stream, client: "proofd replica"},
  };
}

/** @returns undefined if blocks are finalized only by imports and by `proofd finalize` */
function readFinality(
  {finality, rollup: contract, l1From: from, l1Depth: depth, l1Root: root}: ServeValues,
  layer1: NodeOptions | undefined,
  layer2: NodeOptions | undefined,
  command: Command,
): FinalityOptions | undefined {
  const source = finality ?? (layer1 === undefined ? undefined : "l1");
  switch (source) {
    case undefined:
      return undefined;
    case "l1":
      if (layer1 === undefined) return command.error("error: --finality l1 needs --l1");
      if (contract === undefined) return command.error("error: --l1 needs --rollup, the contract's address");
      return {source, nodes: layer1, layer2, rollup: {contract, from, depth, root}, pollMs: POLL_MS};
    case "tag":
      if (layer2 === undefined) return command.error("error: --finality tag needs --l2");
      return {source, nodes: layer2, pollMs: POLL_MS};
  }
}
