/**
 * Begins an empty store without sparse trees with the state of a block as `geth snapshot dump` writes it.
 *
 *   --header   block, ancestors, root         --genesis   chain id, forks         --state   accounts -> TrieBuilder
 */
import {decodeHeader} from "../../evm/execution/blockHead.ts";
import {ExecutionError} from "../../evm/execution/executionError.ts";
import {SettingsFault, SourceError, Stopped} from "../../nodes/blocks/sourceStep.ts";
import {DumpedAccounts} from "../../nodes/files/dumpedAccounts.ts";
import {openInput, readWhole} from "../../nodes/files/inputFile.ts";
import {LineScanner} from "../../nodes/files/lineScanner.ts";
import {splitHeaders} from "../../storage/block/headerFile.ts";
import type {WholeHeader} from "../../storage/block/headerRlp.ts";
import {MAX_ANCESTORS} from "../../storage/commit/firstBlock.ts";
import {TrieBuilder} from "../../storage/commit/trieBuilder.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {RlpError} from "../../storage/rlp/rlpReader.ts";
import type {StateSource} from "../messages/importSource.ts";
import {readGenesis} from "./genesisFile.ts";
import type {WholeState} from "./pulledState.ts";

const CHUNK_BYTES = 256 << 10;
const MAX_SLOT_BYTES = 256;

/** @throws SourceError */
export async function openState(
  {path, headerPath, genesisPath}: StateSource,
  signal: AbortSignal,
): Promise<WholeState> {
  const headers = readHeaders(headerPath, await readWhole(headerPath, signal));
  const header = headers.at(-1) as WholeHeader;
  const genesis =
    genesisPath === undefined ? undefined : (await readGenesis(genesisPath, signal)).parse(false);
  const ancestors = headers.map(({parentHash}) => parentHash).toReversed();
  const block = {
    header,
    stateRoot: header.stateRoot,
    chain: {chainId: genesis?.chainId, config: genesis?.config},
    ancestors: ancestors.slice(0, Math.min(MAX_ANCESTORS, header.number)),
  };
  return {
    path: headerPath,
    chainPath: genesisPath ?? path,
    block,
    async build(target, named, progress, onProgress) {
      const builder = await TrieBuilder.create(target, named);
      const accounts = new DumpedAccounts(builder, header.stateRoot);
      const scanner = new LineScanner(/^storage$/, MAX_SLOT_BYTES, accounts);
      try {
        for await (const chunk of await openInput(path, {chunkBytes: CHUNK_BYTES, signal, progress})) {
          scanner.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
          onProgress(builder.accountCount);
          await builder.flushIfFull();
        }
        if (signal.aborted) throw new Stopped();
        scanner.finish();
        if (!accounts.hasRoot) throw new SourceError('expected {"root":"0x.."}, got no line');
      } catch (error) {
        if (!(error instanceof SourceError) || error instanceof SettingsFault) throw error;
        throw new SourceError(`${path}, line ${scanner.line}: ${error.message}`, {cause: error});
      }
      try {
        await builder.finish();
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== "STATE_ROOT_MISMATCH") throw error;
        throw new SourceError(`${path}, line ${scanner.line}, its end: ${error.message} (truncated?)`, {
          cause: error,
        });
      }
    },
  };
}

/** Consecutive headers, the oldest first. @throws SettingsFault */
function readHeaders(path: string, input: Buffer): readonly WholeHeader[] {
  let headers: readonly WholeHeader[];
  try {
    headers = splitHeaders(input).map((bytes, at) => decodeHeader(bytes, `item ${at + 1}`));
  } catch (error) {
    if (!(error instanceof RlpError || error instanceof ExecutionError)) throw error;
    throw new SettingsFault(`${path}: ${error.message}`, {cause: error});
  }
  for (const [at, {number, parentHash}] of headers.entries()) {
    const parent = headers[at - 1];
    if (
      parent !== undefined &&
      (parent.number + 1 !== number || Buffer.compare(parent.hash, parentHash) !== 0)
    )
      throw new SettingsFault(
        `${path}: expected the header of block ${parent.number + 1} with the parent ${toHex(parent.hash)} after that of block ${parent.number}, got that of block ${number} with the parent ${toHex(parentHash)}`,
      );
  }
  return headers;
}
