/** What proves the rows of a folder that has no whole account tree: its kept proofs, one after the other. */
import {decodeHex} from "../bytes/hex.ts";
import {verifyMultiProof} from "../compact/compactProof.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {AnsweredBlock} from "../leaves/blockBytes.ts";
import {verifyChanges} from "../leaves/changeRange.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {Manifest} from "./manifest.ts";
import {decodeBegin, LEAVES_PER_ANSWER, rowsOfChanges} from "./provenChanges.ts";
import {decodeEntries, rowsOfEntry, type TableRow} from "./provenEntries.ts";

export interface Prover {
  /** @throws Error if the proof proves something else than what was asked for */
  prove(entries: Uint8Array, proof: Uint8Array): readonly TableRow[];
  /** @throws Error if something is left to prove */
  end(): void;
}

/** The accounts whose storage was asked for are all among the entries. Of the keys of a file, only their proofs know them. */
export function entriesProver(suite: HashSuite, {block, asked}: Manifest): Prover {
  const root = decodeHex(block.stateRoot);
  const unproven = new Set(asked.addresses);
  return {
    prove: (bytes, proof) => {
      const entries = decodeEntries(bytes);
      const proven = verifyMultiProof(suite, root, entries, proof);
      for (const {address} of entries) unproven.delete(address);
      return entries.flatMap((entry, i) => rowsOfEntry(suite, entry, proven[i] as Proven));
    },
    end: () => {
      if (unproven.size > 0) throw new Error(`expected a proof of the account ${[...unproven][0]}`);
    },
  };
}

/**
 * Each answer begins where the one before ends, and the last one ends where nothing else differs. Roots vouch for no hash of a block: it
 * is that of the manifest, and the older block has one hash.
 */
export function changesProver(suite: HashSuite, {block, asked}: Manifest): Prover {
  const roots = {from: decodeHex(asked.fromRoot), to: decodeHex(block.stateRoot)};
  let cursor: bigint | undefined = 0n;
  let fromHash: string | undefined;
  return {
    prove: (bytes, proof) => {
      const begin = decodeBegin(bytes);
      if (begin !== cursor) throw new Error(`entries: expected the changes from ${cursor} on, got ${begin}`);
      const request = {tree: "all", cursor: begin, count: LEAVES_PER_ANSWER};
      const changes = verifyChanges(suite, roots, request, proof);
      const {fromBlock, toBlock} = changes;
      fromHash ??= fromBlock.hash;
      requireBlock("fromBlock", fromBlock, asked.fromBlock, fromHash);
      requireBlock("toBlock", toBlock, block.number, block.hash);
      cursor = changes.end;
      return rowsOfChanges(suite, changes);
    },
    end: () => {
      if (cursor !== undefined) throw new Error(`expected a proof of the changes from ${cursor} on`);
    },
  };
}

function requireBlock(name: string, block: AnsweredBlock, number: number | undefined, hash: string): void {
  if (Number(block.number) === number && block.hash === hash) return;
  throw new Error(
    `${name}: expected block ${number} with hash ${hash}, got ${block.number} with ${block.hash}`,
  );
}
