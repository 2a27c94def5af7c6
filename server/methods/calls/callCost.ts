/** What a call costs, by the shape of its parameters. */
import {ESTIMATE_COST} from "../../limits.ts";

/** A slot has a key and a value. Parsing both takes 2 us, three times as long as a storage key. */
const SLOT_COST = 2;

/** Of an estimate or eth_call, or with the cost of another call. Takes params of any shape. Parts of the wrong shape cost nothing here and are refused when they are parsed. */
export function callCost(params: readonly unknown[], ownCost = ESTIMATE_COST): number {
  const [call, ...others] = params;
  let cost = ownCost;
  if (isObject(call)) cost += countAccessList(call.accessList) + countEntries(call.authorizationList);
  for (const other of others) cost += countOverrides(other);
  return cost;
}

/** Its entries and their keys. */
export function countAccessList(list: unknown): number {
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
