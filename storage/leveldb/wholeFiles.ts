/**
 * The gate before LevelDB: it opens only what was verified, for it drops what it cannot read and keeps the rest.
 */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {inUse} from "../record/levelErrors.ts";
import {isInUse} from "./lock.ts";
import {describeFinding, verifyFiles} from "./verifyFiles.ts";

/**
 * Returns if LevelDB would lose nothing by opening the store, or has none there yet. Changes nothing.
 *
 * @throws StoreError STORE_DAMAGED that names file and byte, STORE_IN_USE, STORE_UNREADABLE
 */
export async function requireWholeFiles(directory: string): Promise<void> {
  if (!existsSync(join(directory, "CURRENT"))) return;
  const wrong = await findDamage(directory);
  if (wrong === undefined) return;
  // Files that another process writes to need not fit together.
  if (await isInUse(directory)) throw inUse(directory);
  // It may have closed them meanwhile.
  const stillWrong = await findDamage(directory);
  if (stillWrong !== undefined) throw stillWrong;
}

async function findDamage(directory: string): Promise<StoreError | undefined> {
  try {
    const [finding] = await verifyFiles(directory);
    if (finding === undefined) return undefined;
    return new StoreError("STORE_DAMAGED", `${directory} is damaged: ${describeFinding(finding)}`);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    return new StoreError("STORE_UNREADABLE", `${directory} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}
