/** The flag `--history` of `proofd serve` and `proofd import`: which finalized blocks are kept. */
import {InvalidArgumentError, type Option} from "commander";
import type {History} from "../../storage/prune/retention.ts";
import {createOption} from "./flag.ts";

const MAX_BLOCKS = 2 ** 48 - 1;

export function createHistoryOption(): Option {
  return createOption(
    "--history <blocks>",
    "which finalized blocks are kept: all; the newest N; or finalizations, those that ended a finalization on layer 1. The others are pruned for good",
  )
    .argParser(parseHistory)
    .default({kind: "all"}, "all");
}

export function parseHistory(text: string): History {
  if (text === "all" || text === "finalizations") return {kind: text};
  const blocks = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (blocks >= 1 && blocks <= MAX_BLOCKS) return {kind: "newest", blocks};
  throw new InvalidArgumentError("Expected all, finalizations, or a number of blocks of at least 1.");
}
