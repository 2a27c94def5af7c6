/**
 * What a chain_estimateGas counts of a request's cost, told before anything of it is parsed: 20, 1 for every entry of its
 * access list and authorization list and every account of its overrides, and 2 for every slot of these, since a body can
 * hold thousands of them and parsing and handing them over takes the main thread microseconds each.
 */
import {ESTIMATE_COST} from "../../limits.ts";

/** A key and a value to parse: 2 us, three times as long as a storage key. */
const SLOT_COST = 2;

/** Of params of any shape; what is not as it should be counts nothing, and is refused when it is parsed. */
export function estimateCost(params: readonly unknown[]): number {
  const [call, ...others] = params;
  let cost = ESTIMATE_COST;
  if (isObject(call)) cost += countAccessList(call.accessList) + countEntries(call.authorizationList);
  for (const other of others) cost += countOverrides(other);
  return cost;
}

function countAccessList(list: unknown): number {
  if (!Array.isArray(list)) return 0;
  let entries = list.length;
  for (const entry of list) if (isObject(entry)) entries += countEntries(entry.storageKeys);
  return entries;
}

function countOverrides(overrides: unknown): number {
  if (!isObject(overrides)) return 0;
  let cost = 0;
  for (const account of Object.values(overrides)) {
    cost++;
    if (!isObject(account)) continue;
    for (const slots of [account.state, account.stateDiff])
      if (isObject(slots)) cost += SLOT_COST * Object.keys(slots).length;
  }
  return cost;
}

function countEntries(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
