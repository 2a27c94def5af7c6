/** Reads chain, blocks and accounts from the server before the load. */

import {LoadError} from "../loadError.ts";
import type {BlockChoice, LoadOptions, Style} from "../loadOptions.ts";
import type {Keys, KnownAccount} from "../requests/keys.ts";
import type {BlockSpan} from "../requests/requestMaker.ts";
import type {RpcClient} from "./rpcClient.ts";

/** Fields are undefined if the server does not provide them. */
export interface Target {
  readonly client: string | undefined;
  readonly chainId: number | undefined;
  /** First block that can be proved. */
  readonly oldest: number | undefined;
  /** Last block that can be proved. */
  readonly newest: number | undefined;
}

/** @throws LoadError USAGE if the style is "chain" and the server is an Ethereum node */
export async function readTarget(rpc: RpcClient, style: Style): Promise<Target> {
  const named = await rpc.tryCall("web3_clientVersion");
  const client = typeof named === "string" ? named : undefined;
  const chainId = readQuantity(await rpc.tryCall(`${style}_chainId`));
  const coverage = await rpc.tryCall("chain_getCoverage");
  if (style === "eth" && coverage === undefined) {
    // Nodes do not report the oldest block that they can prove.
    return {client, chainId, oldest: 0, newest: readQuantity(await rpc.tryCall("eth_blockNumber"))};
  }
  if (chainId === undefined && coverage === undefined && (await rpc.tryCall("eth_chainId")) !== undefined)
    throw new LoadError(
      "USAGE",
      "the server answers eth_chainId, but neither chain_chainId nor chain_getCoverage, as nodes do: did you mean --style eth?",
    );
  const {earliest, finalized} = (coverage ?? {}) as {earliest?: unknown; finalized?: unknown};
  return {client, chainId, oldest: readQuantity(earliest), newest: readQuantity(finalized)};
}

/** @throws LoadError USAGE if --blocks needs a block number that the server does not provide */
export function chooseBlocks(choice: BlockChoice, {oldest, newest}: Target): BlockSpan | undefined {
  if (choice === "latest") return undefined;
  const ends = [choice.from, choice.to].map(end => {
    const number = end === "latest" ? newest : end === "oldest" ? oldest : end;
    if (number !== undefined) return number;
    const method = end === "oldest" ? "chain_getCoverage" : "chain_getCoverage or eth_blockNumber";
    throw new LoadError(
      "USAGE",
      `--blocks: the server does not say which block is its ${end} (${method}); name numbers`,
    );
  });
  return {low: Math.min(...ends), high: Math.max(...ends)};
}

/** Of the server: those of the known chain if it serves that; otherwise, in eth style, those in its newest blocks. */
export async function chooseKeys(
  rpc: RpcClient,
  {keys, absent, estimates, style}: Pick<LoadOptions, "keys" | "absent" | "estimates" | "style">,
  target: Target,
): Promise<Keys> {
  if (keys.kind !== "server") return keys;
  if (absent === 1 && estimates === 0) return {kind: "list", name: "", accounts: []};
  const {known} = keys;
  if (known !== undefined && target.chainId === known.chainId) return known;
  const accounts = style === "eth" ? await findEthAccounts(rpc, target.newest) : [];
  if (accounts.length > 0) return {kind: "list", name: "the newest blocks", accounts};
  const chain = target.chainId === undefined ? "does not name its chain" : `serves chain ${target.chainId}`;
  throw new LoadError(
    "USAGE",
    `the server ${chain}, whose accounts are not known here: name them with --keys FILE, ` +
      "with --accounts N for a store of `npm run bench`, or ask for absent ones only with --absent 1",
  );
}

const BLOCKS_READ = 16;
const MAX_FOUND = 4096;

/** The accounts of a development node, and senders and receivers of the newest blocks. */
async function findEthAccounts(rpc: RpcClient, newest: number | undefined): Promise<KnownAccount[]> {
  const found = new Set<unknown>();
  const own = await rpc.tryCall("eth_accounts");
  if (Array.isArray(own)) for (const address of own) found.add(address);
  for (let number = newest ?? -1; number >= 0 && number > (newest ?? 0) - BLOCKS_READ; number--) {
    const block = (await rpc.tryCall("eth_getBlockByNumber", [`0x${number.toString(16)}`, true])) as
      | {transactions?: readonly {from?: unknown; to?: unknown}[]}
      | undefined;
    for (const {from, to} of block?.transactions ?? []) found.add(from).add(to);
  }
  return [...found]
    .filter(address => typeof address === "string")
    .filter(address => /^0x[0-9a-fA-F]{40}$/.test(address))
    .slice(0, MAX_FOUND)
    .map(address => ({address: address.toLowerCase(), slots: []}));
}

function readQuantity(value: unknown): number | undefined {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,13}$/.test(value) ? Number(value) : undefined;
}
