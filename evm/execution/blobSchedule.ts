/** How many blobs each hard fork allows, as a genesis config's `blobSchedule` says. */
import type {HardforkConfig, ParamsConfig, ParamsDict} from "@ethereumjs/common";
import type {ScheduledFork} from "./forks.ts";
import {invalidGenesis, listNames, parseObject, parseQuantity, readMembers} from "./gethJson.ts";
import {BLOB_GAS, type BlobLimits} from "./rules/fees.ts";

export interface BlobSchedule {
  /** Of each fork from cancun on. */
  readonly limits: ReadonlyMap<string, BlobLimits>;
  /** As @ethereumjs/common takes them. */
  readonly params: ParamsDict;
  readonly customHardforks: Record<string, HardforkConfig>;
}

/** EIP-4844 and EIP-7691. */
const LIMITS_OF_EIPS: Readonly<Record<string, BlobLimits>> = {
  cancun: {target: 3n * BLOB_GAS, max: 6n * BLOB_GAS, updateFraction: 3_338_477n},
  prague: {target: 6n * BLOB_GAS, max: 9n * BLOB_GAS, updateFraction: 5_007_716n},
};

/** The counts that `blobSchedule` gives for each fork. Forks that it does not name have the counts of their EIPs. */
export function readBlobSchedule(value: unknown, forks: readonly ScheduledFork[]): BlobSchedule {
  const path = "config.blobSchedule";
  const names = listNames(forks.map(({name}) => name));
  // It may have entries of forks that are not set.
  const schedule = readMembers(parseObject(value ?? {}, path), `${path}.`, names);
  const params: ParamsDict = {};
  const customHardforks: Record<string, HardforkConfig> = {};
  const limits = new Map<string, BlobLimits>();
  let last: BlobLimits | undefined;
  for (const {name} of forks.slice(1)) {
    const isBlobFork = name.startsWith("bpo");
    last = LIMITS_OF_EIPS[name] ?? last;
    if (last !== undefined) limits.set(name, last);
    if (schedule[name] === undefined) {
      if (isBlobFork) throw invalidGenesis(`${path}.${name}`, `is missing, though ${name}Time is set`);
      continue;
    }
    last = readBlobLimits(schedule[name], `${path}.${name}`);
    limits.set(name, last);
    const counts = toParams(last);
    // @ethereumjs does not know every fork that changes only blob counts. It has the EIPs of all other forks.
    if (isBlobFork) customHardforks[name] = {eips: [], params: counts};
    else params[name] = counts;
  }
  return {limits, params, customHardforks};
}

const LIMIT_NAMES = listNames(["target", "max", "baseFeeUpdateFraction"]);

function readBlobLimits(value: unknown, field: string): BlobLimits {
  const entry = readMembers(parseObject(value, field), `${field}.`, LIMIT_NAMES);
  return {
    target: parseQuantity(entry.target, `${field}.target`, 16) * BLOB_GAS,
    max: parseQuantity(entry.max, `${field}.max`, 16) * BLOB_GAS,
    updateFraction: parseQuantity(entry.baseFeeUpdateFraction, `${field}.baseFeeUpdateFraction`, 53),
  };
}

function toParams({target, max, updateFraction}: BlobLimits): ParamsConfig {
  return {
    // @ethereumjs reads the first two from bpo1 on, the next two before.
    target: Number(target / BLOB_GAS),
    max: Number(max / BLOB_GAS),
    targetBlobGasPerBlock: Number(target),
    maxBlobGasPerBlock: Number(max),
    blobGasPriceUpdateFraction: Number(updateFraction),
  };
}
