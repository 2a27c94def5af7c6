/** How many blobs each hard fork allows, as a genesis config's `blobSchedule` says. */
import type {HardforkConfig, ParamsConfig, ParamsDict} from "@ethereumjs/common";
import type {ScheduledFork} from "./forks.ts";
import {invalidGenesis, parseObject, parseQuantity} from "./gethJson.ts";

const BLOB_GAS = 131072;

/** As @ethereumjs/common takes them. */
export interface BlobSchedule {
  readonly params: ParamsDict;
  readonly customHardforks: Record<string, HardforkConfig>;
}

/** The counts that `blobSchedule` gives for each fork. Forks that it does not name have the counts of their EIPs. */
export function readBlobSchedule(value: unknown, forks: readonly ScheduledFork[]): BlobSchedule {
  const schedule = parseObject(value ?? {}, "config.blobSchedule");
  const params: ParamsDict = {};
  const customHardforks: Record<string, HardforkConfig> = {};
  for (const {name} of forks.slice(1)) {
    const isBlobFork = name.startsWith("bpo");
    if (schedule[name] === undefined) {
      if (isBlobFork)
        throw invalidGenesis(`config.blobSchedule.${name}`, `is missing, though ${name}Time is set`);
      continue;
    }
    const counts = readBlobCounts(schedule[name], `config.blobSchedule.${name}`);
    // @ethereumjs does not know every fork that changes only blob counts. It has the EIPs of all other forks.
    if (isBlobFork) customHardforks[name] = {eips: [], params: counts};
    else params[name] = counts;
  }
  return {params, customHardforks};
}

function readBlobCounts(value: unknown, field: string): ParamsConfig {
  const entry = parseObject(value, field);
  const target = Number(parseQuantity(entry.target, `${field}.target`, 16));
  const max = Number(parseQuantity(entry.max, `${field}.max`, 16));
  return {
    // @ethereumjs reads the first two from bpo1 on, the next two before.
    target,
    max,
    targetBlobGasPerBlock: target * BLOB_GAS,
    maxBlobGasPerBlock: max * BLOB_GAS,
    blobGasPriceUpdateFraction: Number(
      parseQuantity(entry.baseFeeUpdateFraction, `${field}.baseFeeUpdateFraction`, 53),
    ),
  };
}
