/** The codes of a complete pull of everything. */

import type {Manifest} from "./manifest.ts";
import type {CodeRow} from "./row/tables.ts";
import {TableReader} from "./tableReader.ts";

/**
 * Every part is compared with its sha-256 before its first row is given. That a code has its hash, the caller shows.
 *
 * @throws PulledError DAMAGED that names the file and the row, FILE_FAILED
 */
export async function* readCodes(folder: string, manifest: Manifest): AsyncGenerator<CodeRow, void, void> {
  const codes = new TableReader(folder, manifest, "codes");
  for (let row = await codes.next(); row !== undefined; row = await codes.next()) yield row;
}
