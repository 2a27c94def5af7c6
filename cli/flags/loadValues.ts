/** Parses values of flags of `proofd load` and `proofd pull`. An invalid value is a usage error. */
import {type Command, InvalidArgumentError} from "commander";
import type {BlockChoice, BlockEnd, ErrorLimit} from "proofd-load";
import {refuseFlag} from "./flagTable.ts";
import {readHttpUrl} from "./flagValues.ts";

export const MAX_TIMEOUT_MS = 600_000;
const MAX_BLOCK = 2 ** 48 - 1;

export function readUrl(text: string, command: Command): URL {
  const url = readHttpUrl(text);
  if (url === undefined)
    return refuseFlag(command, "url", ": expected a URL with http:// or https:// and a host");
  if (url.username !== "" || url.password !== "" || url.hash !== "")
    return refuseFlag(
      command,
      "url",
      ": expected a URL without user, password and #: --header sends an authorization",
    );
  return url;
}

export function parseFraction(text: string): number {
  const value = /^([0-9]+(\.[0-9]*)?|\.[0-9]+)$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 1) return value;
  throw new InvalidArgumentError("Expected a number from 0 to 1.");
}

export function parseErrorLimit(text: string): ErrorLimit {
  if (/^[0-9]{1,12}$/.test(text)) return {calls: Number(text)};
  const percent = /^[0-9]{1,3}(\.[0-9]{1,4})?%$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN;
  if (percent <= 100) return {percent};
  throw new InvalidArgumentError("Expected a whole number of calls, or 0% to 100%, such as 0.1%.");
}

export function parseMilliseconds(text: string): number {
  const value = /^[0-9]{1,6}(\.[0-9]{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0 && value <= MAX_TIMEOUT_MS) return value;
  throw new InvalidArgumentError(`Expected milliseconds above 0 and up to ${MAX_TIMEOUT_MS}, such as 12.5.`);
}

export function parseBlocks(text: string): BlockChoice {
  if (text === "latest") return text;
  const ends = text.split("..");
  const from = parseBlockEnd(ends[0] as string);
  const to = ends.length === 1 ? from : parseBlockEnd(ends[1] as string);
  if (ends.length <= 2 && from !== undefined && to !== undefined) return {from, to};
  throw new InvalidArgumentError("Expected latest, oldest, a block number, or two of them as A..B.");
}

function parseBlockEnd(text: string): BlockEnd | undefined {
  if (text === "latest" || text === "oldest") return text;
  const number = /^([0-9]{1,15}|0[xX][0-9a-fA-F]{1,12})$/.test(text) ? Number(text) : Number.NaN;
  return number <= MAX_BLOCK ? number : undefined;
}
