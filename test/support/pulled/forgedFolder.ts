/** Folders of pulls that say something else than what was pulled. */
import {createHash} from "node:crypto";
import {cpSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {readManifest} from "../../../client/folder/manifest.ts";
import {countRows} from "../../../client/folder/manifestParts.ts";

/** Changes a file of a copy of a folder, and has the manifest say that the part was so. @returns the copy */
export function forgeFolder(
  folder: string,
  copy: string,
  file: string,
  change: (text: string) => string,
): string {
  cpSync(folder, copy, {recursive: true});
  forgePart(copy, file, Buffer.from(change(readFileSync(join(copy, file), "latin1")), "latin1"));
  return copy;
}

/** Replaces a part, and has the manifest say that it was so. Parts of other formats than NDJSON keep their number of rows. */
export function forgePart(folder: string, file: string, bytes: Buffer): void {
  writeFileSync(join(folder, file), bytes);
  const manifest = readManifest(folder);
  const sha256 = `0x${createHash("sha256").update(bytes).digest("hex")}`;
  const lines = bytes.toString("latin1").split("\n").length - 1;
  const forged = {...(file.endsWith(".ndjson") && {rows: lines}), bytes: bytes.length, sha256};
  const parts = manifest.parts.map(part => (part.file === file ? {...part, ...forged} : part));
  const rows = countRows(parts);
  const accountTree = manifest.accountTree && {...manifest.accountTree, leaves: rows.accounts};
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({...manifest, rows, parts, accountTree}));
}

export function dropFirst(text: string): string {
  return text.slice(text.indexOf("\n") + 1);
}

/** Has the first row twice. */
export function double(text: string): string {
  return text.slice(0, text.indexOf("\n") + 1) + text;
}
