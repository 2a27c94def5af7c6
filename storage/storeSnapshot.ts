/**
 * A snapshot: a copy of the store as of one moment, in another folder. Any process may have the store open meanwhile.
 *
 *   take      the files as of one moment, in a folder of another name (directory/snapshotFiles.ts, draftFolder.ts)
 *   verify    as before an opening of LevelDB, then read the newest block: damage is not copied
 *   publish   sync, rename
 */
import {requireFormat} from "./block/format.ts";
import {StateReader} from "./block/stateReader.ts";
import {acknowledge} from "./commit/rollback.ts";
import {requireAcknowledged} from "./directory/acknowledgedNote.ts";
import {DraftFolder, type Leftover} from "./directory/draftFolder.ts";
import {damageOf, findDamage} from "./directory/openingCheck.ts";
import {SnapshotFiles, type TakenBytes} from "./directory/snapshotFiles.ts";
import {refuseForeignDirectory} from "./directory/storeDirectory.ts";
import {isDamage, StoreError} from "./errors.ts";
import {FileDamage} from "./leveldb/fileDamage.ts";
import {FileSnapshot} from "./leveldb/fileSnapshot.ts";
import {META_KEYS} from "./record/layout.ts";

/** Damage counts if it is found twice: after a rollback, the note may name a block that is not in the logs any more. */
const ATTEMPTS = 2;
const NO_MEMORY = {pageBytes: 0, hintBytes: 0};

interface NewestBlock {
  readonly block: number;
  readonly hash: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly suite: string;
  readonly chainId: bigint | undefined;
  /** Blocks up to this one are finalized; undefined: none is. */
  readonly finalized: number | undefined;
}

export interface Snapshot extends NewestBlock {
  readonly bytes: TakenBytes;
}

interface SnapshotOptions {
  readonly directory: string;
  readonly out: string;
  readonly onCopied?: (bytes: number) => void;
  /** Called with each folder beside `out` that an earlier, unfinished snapshot has left. */
  readonly onLeftover?: (leftover: Leftover) => void;
  /** Ends it with the signal's reason. Nothing is left. */
  readonly signal: AbortSignal;
}

/**
 * Blocks its thread for a second for each GB of the newest tables, up to one GB.
 *
 * @throws StoreError STORE_MISSING, STORE_DAMAGED, STORE_UNREADABLE, RECORD_DAMAGED, RECORD_MISSING, FORMAT_MISMATCH,
 * BLOCK_UNKNOWN if the store has no block, WRITE_FAILED; the signal's reason
 */
export async function makeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const {directory, out, onLeftover = () => {}} = options;
  refuseForeignDirectory(directory, false);
  const draft = DraftFolder.create(out, directory, onLeftover);
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const snapshot = await fill(draft.path, options);
        draft.publish();
        return snapshot;
      } catch (error) {
        if (!isDamage(error) || attempt === ATTEMPTS) throw error;
        draft.empty();
      }
    }
  } catch (error) {
    draft.discard();
    throw error;
  }
}

async function fill(
  folder: string,
  {directory, onCopied = () => {}, signal}: SnapshotOptions,
): Promise<Snapshot> {
  const bytes = await takeFiles(folder, directory, onCopied, signal).catch((error: unknown) => {
    throw error instanceof FileDamage ? damageOf(directory, error) : error;
  });
  const damage = await findDamage(folder, directory, META_KEYS);
  if (damage !== undefined) throw damage;
  signal.throwIfAborted();
  const newest = await readNewestBlock(folder, directory);
  acknowledge(folder, newest.block, true);
  return {...newest, bytes};
}

async function takeFiles(
  folder: string,
  directory: string,
  onCopied: (bytes: number) => void,
  signal: AbortSignal,
): Promise<TakenBytes> {
  const taken = await SnapshotFiles.take(directory, folder);
  try {
    return await taken.copy(onCopied, signal);
  } finally {
    taken.close();
  }
}

/** Read from the files. @param directory - for messages. @throws StoreError, also BLOCK_UNKNOWN for an empty store */
export async function readNewestBlock(folder: string, directory: string): Promise<NewestBlock> {
  const {newest, close} = await openFiles(folder, directory);
  close();
  return newest;
}

/** As readNewestBlock, to read more of it. The caller closes it. */
export async function openFiles(
  folder: string,
  directory: string,
): Promise<{readonly newest: NewestBlock; readonly reader: StateReader; close(): void}> {
  const files = await FileSnapshot.open(folder);
  try {
    const suite = await requireFormat(files, directory);
    const reader = new StateReader(files, suite, NO_MEMORY);
    await reader.requireMarks();
    const block = await reader.latest();
    await requireAcknowledged(folder, block, directory);
    if (block === undefined) throw new StoreError("BLOCK_UNKNOWN", `${directory} holds no block yet`);
    const {header, stateRoot} = reader.headerRecordOrThrow(block);
    const finalized = Math.min(reader.readFinalized() ?? -1, block);
    const {chainId} = reader.readChain() ?? {};
    const newest = {
      block,
      hash: header.hash,
      stateRoot,
      suite: reader.suiteName,
      chainId,
      finalized: finalized < 0 ? undefined : finalized,
    };
    return {newest, reader, close: () => files.close()};
  } catch (error) {
    files.close();
    throw error;
  }
}
