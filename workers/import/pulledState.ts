/**
 * Begins an empty store with the folder of a full pull (docs/pulling.md): its block becomes the store's first one.
 *
 *   manifest -> block, header, ancestors, chain        codes, accounts, storage trees -> StateBuilder
 */

import {type BlockContext, type Manifest, readManifest} from "../../client/folder/manifest.ts";
import {PulledError} from "../../client/folder/pulledError.ts";
import {readRows} from "../../client/folder/readRows.ts";
import type {AccountRow} from "../../client/folder/row/tables.ts";
import {TableReader} from "../../client/folder/tableReader.ts";
import {decodeHeader} from "../../evm/execution/blockHead.ts";
import {ExecutionError} from "../../evm/execution/executionError.ts";
import {parseHeaderFields} from "../../nodes/blocks/nodeHeader.ts";
import {SourceError} from "../../nodes/blocks/sourceStep.ts";
import {
  optional,
  parseBytes,
  parseFixedBytes,
  parseObject,
  parseQuantity,
} from "../../nodes/rpc/answerValues.ts";
import {NodeFailure} from "../../nodes/rpc/node.ts";
import type {BlockHeader, ChainConfig} from "../../storage/block/blockDifference.ts";
import {type BuiltBlock, MAX_ANCESTORS} from "../../storage/commit/firstBlock.ts";
import {StateBuilder} from "../../storage/commit/stateBuilder.ts";
import type {WriteTarget} from "../../storage/commit/writeBatch.ts";
import {StoreError} from "../../storage/errors.ts";
import {isSame, toHex} from "../../storage/hex.ts";
import {bigEndian} from "../../storage/record/recordBody.ts";
import {stripZeros} from "../../storage/tree/shortNumber.ts";
import type {PullSource} from "../messages/importSource.ts";
import type {SourceProgress} from "./sourceHost.ts";

const WORD = 32;

/** A whole state that an empty store can begin with. */
export interface WholeState {
  /** Paths for messages: of what names the block, and the chain. */
  readonly path: string;
  readonly chainPath: string;
  readonly block: BuiltBlock;
  /**
   * Writes all of it, or nothing that can be reached. @param onProgress - with the accounts so far; may throw to end
   *
   * @throws SourceError, StoreError, what onProgress throws
   */
  build(
    target: WriteTarget,
    block: BuiltBlock,
    progress: SourceProgress,
    onProgress: (accounts: number) => void,
  ): Promise<void>;
}

/** @throws SourceError for a folder that is incomplete, not of a full pull, or invalid */
export async function openPull({path, genesisPath}: PullSource, signal: AbortSignal): Promise<WholeState> {
  return nameErrors(path, async () => {
    const manifest = readManifest(path);
    const {asked, block, context, accountTree} = manifest;
    if (asked.pulled !== "all" || accountTree === undefined || context === undefined)
      throw new SourceError(
        `${path}: expected a pull of everything (proofd pull --all), got one of ${asked.pulled}`,
      );
    const header = parseHeader(block, context);
    const chain = await readChain(context, genesisPath, signal);
    const stateRoot = parseFixedBytes(block.stateRoot, "block.stateRoot", WORD);
    const ancestors = parseAncestors(context, header);
    return {
      path,
      chainPath: genesisPath ?? path,
      block: {header, stateRoot, chain, ancestors},
      build: (target, named, progress, onProgress) =>
        nameErrors(path, () => buildPulled(target, path, manifest, named, progress, onProgress)),
    };
  });
}

async function buildPulled(
  target: WriteTarget,
  path: string,
  manifest: Manifest,
  block: BuiltBlock,
  progress: SourceProgress,
  onProgress: (accounts: number) => void,
): Promise<void> {
  const all = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0);
  const bytes = manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
  progress.bytesTotal = bytes;
  let rows = 0;
  const tell = (): void => {
    progress.bytesRead = Math.floor((bytes * rows) / all);
    onProgress(builder.accountCount);
  };
  const tree = manifest.accountTree as {readonly nextFreeNode: number};
  const builder = await StateBuilder.create(target, block, tree.nextFreeNode, tell);
  for await (const {code} of new TableReader(path, manifest, "codes")) {
    await builder.addCode(code);
    rows++;
  }
  let isInSlots = false;
  for await (const one of readRows(path, manifest)) {
    rows++;
    if (one.kind === "account") {
      builder.addAccount(one.row.leafIndex, one.row.address, accountOf(one.row));
      if (rows % 4096 === 0) tell();
    } else if (one.kind === "slot") {
      const {leafIndex, slot, value} = one.row;
      builder.addSlot(leafIndex, bigEndian(slot, WORD), bigEndian(value, WORD));
    } else if (one.kind === "storageTree") {
      if (isInSlots) await builder.endSlots();
      isInSlots = true;
      builder.beginSlots(one.tree.accountIndex, one.tree.nextFreeNode);
    }
  }
  if (isInSlots) await builder.endSlots();
  await builder.finish();
}

function accountOf(row: AccountRow): Parameters<StateBuilder["addAccount"]>[2] {
  const {nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize} = row;
  const code =
    codeHash === undefined || keccakCodeHash === undefined
      ? undefined
      : {codeHash, keccakCodeHash, codeSize: Number(codeSize)};
  return {
    nonce: stripZeros(bigEndian(nonce, 8)),
    balance: stripZeros(bigEndian(balance, WORD)),
    code,
    storageRoot,
  };
}

/** A full header must have the block's hash. Of single fields, only the form is checked. */
function parseHeader(block: Manifest["block"], {header, headerRlp}: BlockContext): BlockHeader {
  const {number} = block;
  const hash = parseFixedBytes(block.hash, "block.hash", WORD);
  const fields = parseHeaderFields(parseObject(header, "context.header"), "context.header.");
  if ((headerRlp ?? undefined) === undefined) return {number, hash, ...fields};
  const head = decodeHeader(parseBytes(headerRlp, "context.headerRlp"), "context.headerRlp");
  if (head.number === number && isSame(head.hash, hash)) return head;
  throw new SourceError(
    `context.headerRlp: expected the header of block ${number}, ${toHex(hash)}, got that of block ${head.number}, ${toHex(head.hash)}`,
  );
}

function parseAncestors({ancestors}: BlockContext, {number, parentHash}: BlockHeader): readonly Uint8Array[] {
  if (!Array.isArray(ancestors) || ancestors.length > Math.min(MAX_ANCESTORS, number))
    throw new SourceError(`context.ancestors: expected an array of at most ${MAX_ANCESTORS} hashes`);
  const hashes = ancestors.map((hash: unknown, i) => parseFixedBytes(hash, `context.ancestors[${i}]`, WORD));
  const [parent] = hashes;
  if (parent !== undefined && parentHash !== undefined && Buffer.compare(parent, parentHash) !== 0)
    throw new SourceError("context.ancestors[0]: expected the parent hash of the header");
  return hashes;
}

/** A genesis file takes precedence: its forks may be newer. It must be of the same chain. */
async function readChain(
  {chainId, config}: BlockContext,
  genesisPath: string | undefined,
  signal: AbortSignal,
): Promise<ChainConfig> {
  const said = optional(chainId, value => parseQuantity(value, "context.chainId", 256));
  if (genesisPath !== undefined) {
    // It needs the rules of chains, which a pull does not.
    const {readGenesis} = await import("./genesisFile.ts");
    const genesis = (await readGenesis(genesisPath, signal)).parse(false);
    if (said !== undefined && said !== genesis.chainId)
      throw new SourceError(
        `the genesis file: expected chain ${said}, as in the pull, got chain ${genesis.chainId}`,
      );
    return {chainId: genesis.chainId, config: genesis.config};
  }
  const text = optional(config, value => JSON.stringify(parseObject(value, "context.config")));
  return {chainId: said, config: text};
}

/** Values of the manifest are parsed as those of nodes are, and files fail with errors of their own. */
async function nameErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PulledError) throw new SourceError(error.message, {cause: error});
    if (error instanceof NodeFailure || error instanceof ExecutionError)
      throw new SourceError(`${path}, manifest.json: ${error.message}`, {cause: error});
    const isRefusal =
      error instanceof StoreError && (error.code === "BLOCK_INVALID" || error.code === "STATE_ROOT_MISMATCH");
    if (isRefusal) throw new SourceError(`${path}: ${error.message}`, {cause: error});
    throw error;
  }
}
