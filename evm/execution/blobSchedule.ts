/** Reads the blob limits of each hard fork from a genesis config's `blobSchedule`. */
import type {ScheduledFork} from "./forks.ts";
import {invalidGenesis, listNames, parseObject, parseQuantity, readMembers} from "./gethJson.ts";
import {BLOB_GAS, type BlobLimits} from "./rules/fees.ts";

/** EIP-4844 and EIP-7691. */
const LIMITS_OF_EIPS: Readonly<Record<string, BlobLimits>> = {
  cancun: {target: 3n * BLOB_GAS, max: 6n * BLOB_GAS, updateFraction: 3_338_477n},
  prague: {target: 6n * BLOB_GAS, max: 9n * BLOB_GAS, updateFraction: 5_007_716n},
};

/** @returns the limits of each fork from cancun on; those of its EIP where `blobSchedule` does not name the fork */
export function readBlobSchedule(
  value: unknown,
  forks: readonly ScheduledFork[],
): ReadonlyMap<string, BlobLimits> {
  const path = "config.blobSchedule";
  const names = listNames(forks.map(({name}) => name));
  // It may name forks that the config does not schedule.
  const schedule = readMembers(parseObject(value ?? {}, path), `${path}.`, names);
  const limits = new Map<string, BlobLimits>();
  let last: BlobLimits | undefined;
  for (const {name} of forks.slice(1)) {
    last = LIMITS_OF_EIPS[name] ?? last;
    if (schedule[name] !== undefined) last = readBlobLimits(schedule[name], `${path}.${name}`);
    else if (name.startsWith("bpo"))
      throw invalidGenesis(`${path}.${name}`, `is missing, though ${name}Time is set`);
    if (last !== undefined) limits.set(name, last);
  }
  return limits;
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
