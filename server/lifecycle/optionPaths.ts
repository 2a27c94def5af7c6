/** Checks files and folders that options name, before a store is made. */
import {accessSync, constants, existsSync, statSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import type {ServiceOptions} from "./serviceOptions.ts";
import {SettingsError} from "./workError.ts";

/** @throws SettingsError for a file that cannot be read, or no room beside the store for snapshots of a feed */
export function checkPaths({db, diffs, l2, feed, publish}: ServiceOptions): void {
  if (diffs !== "-") requireReadable("--diffs", diffs);
  requireReadable("--genesis", l2?.genesisPath);
  if (feed !== undefined) requireRoomBeside("--feed", db);
  if (publish !== undefined && publish.snapshots.every > 0) requireRoomBeside("--publish", db);
}

function requireReadable(flag: string, path: string | undefined): void {
  if (path === undefined) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new SettingsError(`${flag}: cannot read ${path}: ${(error as Error).message}`);
  }
}

/** Snapshots of feeds are made beside the store, and replace it by renaming. */
function requireRoomBeside(flag: string, db: string): void {
  const parent = dirname(resolve(db));
  if (!existsSync(parent)) return; // it will be made
  const isMount = existsSync(db) && statSync(db).dev !== statSync(parent).dev;
  try {
    accessSync(parent, constants.W_OK);
    if (!isMount) return;
  } catch {
    // Reported below.
  }
  const why = isMount ? `${db} is the top of a mounted volume` : `${parent} cannot be written`;
  throw new SettingsError(
    `${flag}: snapshots need room beside the store, but ${why}: expected --db in a folder below, such as ${join(db, "db")}`,
  );
}
