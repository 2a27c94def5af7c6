/** The content of a folder, to check that nothing has changed it. */
import {createHash} from "node:crypto";
import {readdir, readFile} from "node:fs/promises";
import {join} from "node:path";

/** Each file's name and the hash of its bytes, in the order of names. */
export async function hashFiles(directory: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const name of (await readdir(directory)).sort())
    hashes[name] = createHash("sha256")
      .update(await readFile(join(directory, name)))
      .digest("hex");
  return hashes;
}
