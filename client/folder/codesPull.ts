/** What a new store needs besides trees (`proofd import --pull`): each code, and the server's answer about the block. */
import {decodeHex, encodeHex, quantity} from "../bytes/hex.ts";
import type {BlockContext} from "../methods/header.ts";
import {RETRY_MS} from "../pull/askAhead.ts";
import {askAgain} from "../rpc/pauses.ts";
import {RpcError} from "../rpc/rpcError.ts";
import type {BlockContext as ManifestContext} from "./manifest.ts";
import type {PullWork} from "./pullPlace.ts";
import type {TableReader} from "./tableReader.ts";

/** Codes of one request: some megabytes at most. */
const CODES_AT_ONCE = 256;

/**
 * Pulls codes, beginning after those that are written. All accounts must be written before. Memory: 100 bytes for each.
 *
 * @throws RpcError BAD_ANSWER if the server lacks a code; what getCodes and the folder throw
 */
export async function pullCodes(work: PullWork): Promise<void> {
  const {writer, client, signal, progress} = work;
  // If a resumed pull has codes already, the accounts are finished, and the part of codes must stay open.
  if (writer.rows("codes") === 0) writer.finishParts(work.place);
  const hashes = await listCodes(writer.readFinished("accounts"));
  for (let at = writer.rows("codes"); at < hashes.length; at += CODES_AT_ONCE) {
    const asked = hashes.slice(at, at + CODES_AT_ONCE);
    const codes = await askAgain(RETRY_MS, signal, () => client.getCodes({hashes: asked, signal}));
    for (const [i, hash] of asked.entries()) {
      const code = codes[i];
      if (code === undefined) throw new RpcError("BAD_ANSWER", `the server does not have the code ${hash}`);
      writer.add("codes", {keccakCodeHash: decodeHex(hash), code});
    }
    if (writer.isDue) writer.finishParts(work.place);
    progress.show("codes", {done: at + asked.length, total: hashes.length, unit: "codes"}, asked.length);
  }
}

/** Keccak hashes, `0x` text, in the order of the accounts, so that a resumed pull knows which are written. */
export async function listCodes(accounts: TableReader<"accounts">): Promise<readonly string[]> {
  const hashes = new Set<string>();
  for await (const row of accounts)
    if (row.keccakCodeHash !== undefined) hashes.add(encodeHex(row.keccakCodeHash));
  return [...hashes];
}

export function contextOf({header, headerRlp, ancestors, chainId, config}: BlockContext): ManifestContext {
  const fields = Object.entries(header as object).flatMap(
    ([name, value]: [string, bigint | string | undefined]) =>
      value === undefined ? [] : [[name, typeof value === "bigint" ? quantity(value) : value]],
  );
  return {
    header: Object.fromEntries(fields) as Record<string, string>,
    headerRlp: headerRlp ?? null,
    ancestors,
    chainId: chainId === undefined ? null : quantity(chainId),
    config: config ?? null,
  };
}
