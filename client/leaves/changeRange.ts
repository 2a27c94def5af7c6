/**
 * What differs between two blocks, verified (docs/proofs.md, section 16).
 *
 *   0x04 | block | block | [storage of one account: its proof at both blocks, each after its length u16]
 *        | from: account u40, slot u40 | end: account u40, slot u40 | changes of trees
 */
import {encodeHex} from "../bytes/hex.ts";
import {ByteReader} from "../compact/byteReader.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";
import {parseAddress} from "../proof/request.ts";
import {
  type AnsweredBlock,
  checkFields,
  readAccount,
  readBlock,
  readFirstByte,
  requireRoot,
} from "./blockBytes.ts";
import {ChangesReader, type StorageChanges} from "./changesReader.ts";
import type {LeafChange} from "./foldChanges.ts";
import type {AccountLeaf} from "./treeLeaf.ts";

export interface ChangesRequest {
  /** "accounts", "all" for accounts and their storage, or the address of an account for its storage. */
  readonly tree: string;
  /** 0n, or the `end` of the answer before. */
  readonly cursor: bigint;
  /** Leaves, at most. */
  readonly count: number;
}

/** The trusted roots of the two blocks, 32 bytes each. */
export interface ComparedRoots {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** All that differs from the request's cursor to `end`, in the order of leaf indexes. */
export interface ChangeRange {
  readonly fromBlock: AnsweredBlock;
  readonly toBlock: AnsweredBlock;
  readonly accounts: readonly LeafChange<AccountLeaf>[];
  readonly storages: readonly StorageChanges[];
  /** Of the storage of one account: the account at both blocks, undefined if it is absent. Else undefined. */
  readonly account:
    | {readonly before: ProvenAccount | undefined; readonly after: ProvenAccount | undefined}
    | undefined;
  /** Where the next answer begins; undefined: this one is the last. */
  readonly end: bigint | undefined;
}

const FIRST_BYTE = 0x04;
const ACCOUNTS = "accounts";
const ALL = "all";

/** The blocks that an answer names, before anything is verified. @throws ProofError */
export function readComparedBlocks(reader: ByteReader): readonly [from: AnsweredBlock, to: AnsweredBlock] {
  readFirstByte(reader, FIRST_BYTE);
  return [readBlock(reader), readBlock(reader)];
}

/** Verifies an answer of chain_getChanges. @param request - your own, not the answer's. @throws ProofError */
export function verifyChanges(
  suite: HashSuite,
  roots: ComparedRoots,
  request: ChangesRequest,
  bytes: Uint8Array,
): ChangeRange {
  checkFields("roots", roots, {from: "object", to: "object"});
  checkFields("request", request, {tree: "string", cursor: "bigint", count: "number"});
  const {from, to} = roots;
  const {tree, cursor, count} = request;
  const reader = new ByteReader(bytes);
  const [fromBlock, toBlock] = readComparedBlocks(reader);
  requireRoot("fromBlock", fromBlock, from);
  requireRoot("toBlock", toBlock, to);
  const isStorage = tree !== ACCOUNTS && tree !== ALL;
  const [before, after] = isStorage
    ? [readAccount(suite, reader, from, tree), readAccount(suite, reader, to, tree)]
    : [];
  const changes = new ChangesReader(suite, reader, cursor, count, tree === ALL);
  if (isStorage) changes.readStorage(encodeHex(parseAddress(tree)), before, after);
  else changes.readAccounts(from, to);
  const {accounts, storages, end} = changes;
  return {
    fromBlock,
    toBlock,
    accounts,
    storages,
    account: isStorage ? {before, after} : undefined,
    end: changes.finish() ? undefined : end,
  };
}
