/** Whether a snapshot may replace the store: finalized blocks stay. */
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {isSame, toHex} from "../../../storage/hex.ts";

export interface ComparedStore {
  readonly newest: {readonly chainId: bigint | undefined; readonly finalized: number | undefined};
  readonly reader: Pick<
    StateReader,
    "firstBlock" | "readBlockHash" | "blockHashOrThrow" | "readHeaderRecord"
  >;
}

/**
 * The newest finalized block commits to those below it. The first block cannot be rolled back, finalized or not.
 * @returns why the snapshot may not replace the store; undefined if it may. @throws StoreError
 */
export function findContradiction(stored: ComparedStore, snapshot: ComparedStore): string | undefined {
  const {chainId, finalized} = stored.newest;
  const {newest, reader} = snapshot;
  if (chainId !== undefined && newest.chainId !== undefined && chainId !== newest.chainId)
    return `it is of the chain ${newest.chainId}, and the store of the chain ${chainId}`;
  const {firstBlock} = stored.reader;
  const [ownFirst, first] = [stored.reader.readBlockHash(firstBlock), reader.readBlockHash(firstBlock)];
  if (ownFirst !== undefined && first !== undefined && !isSame(ownFirst, first))
    return `its block ${firstBlock} is ${toHex(first)}, and the store begins with ${toHex(ownFirst)}`;
  if (finalized === undefined) return undefined;
  const [own, hash] = [stored.reader.blockHashOrThrow(finalized), reader.readBlockHash(finalized)];
  if (hash === undefined)
    return `it begins with block ${reader.firstBlock}, so block ${finalized}, which is finalized here, cannot be compared`;
  if (!isSame(own, hash))
    return `its block ${finalized} is ${toHex(hash)}, and ${toHex(own)} is finalized here`;
  const ownRoot = stored.reader.readHeaderRecord(finalized)?.stateRoot;
  const root = reader.readHeaderRecord(finalized)?.stateRoot;
  if (ownRoot !== undefined && root !== undefined && !isSame(ownRoot, root))
    return `its block ${finalized} has the state root ${toHex(root)}, and ${toHex(ownRoot)} is finalized here`;
  return undefined;
}
