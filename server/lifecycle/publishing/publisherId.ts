/** The id of a publisher of a stream. It stays with the store's folder; snapshots do not contain it. */
import {randomBytes} from "node:crypto";
import {existsSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {PUBLISHER_BYTES} from "../../../nodes/feed/feedMessage.ts";
import {readWholeFile} from "../../../storage/regularFile.ts";

const FILE = "publisher";
const HEX = new RegExp(`^[0-9a-f]{${2 * PUBLISHER_BYTES}}\n$`);

/** Whether the store was ever published: then later imports will be too. */
export function hasPublisherId(directory: string): boolean {
  return existsSync(join(directory, FILE));
}

/** Creates one if there is none. @throws system errors */
export function readPublisherId(directory: string): Buffer {
  const path = join(directory, FILE);
  try {
    const text = readWholeFile(path).toString();
    if (HEX.test(text)) return Buffer.from(text.trim(), "hex");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const id = randomBytes(PUBLISHER_BYTES);
  writeFileSync(path, `${id.toString("hex")}\n`);
  return id;
}
