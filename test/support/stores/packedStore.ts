/** Small stores in test/fixtures/own/store-format-N.json: LevelDB's files as the release that wrote format N left them. */
import {mkdir, readdir, readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {gunzipSync, gzipSync} from "node:zlib";
import type {SuiteName} from "../../../storage/hash/suiteNames.ts";
import type {DifferenceLine} from "../chains/differenceLine.ts";
import {readFixture} from "../reference/fixtures.ts";

export interface PackedStores {
  readonly source: string;
  /** What the stores were filled with. */
  readonly lines: readonly DifferenceLine[];
  /** By suite: file names and contents, in gzip and base64. */
  readonly stores: Readonly<Record<SuiteName, Readonly<Record<string, string>>>>;
}

/** Files of LevelDB that no store needs. */
const LEFT_OUT = /^LO/;

/** @param directory - of a closed store */
export async function packStore(directory: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of (await readdir(directory)).sort())
    if (!LEFT_OUT.test(name))
      files[name] = gzipSync(await readFile(join(directory, name)), {level: 9}).toString("base64");
  return files;
}

/** @param directory - is made. @returns the lines of the store's blocks */
export async function unpackStore(
  format: number,
  suite: SuiteName,
  directory: string,
): Promise<readonly DifferenceLine[]> {
  const {lines, stores} = readFixture<PackedStores>(`own/store-format-${format}`);
  await mkdir(directory, {recursive: true});
  for (const [name, text] of Object.entries(stores[suite]))
    await writeFile(join(directory, name), gunzipSync(Buffer.from(text, "base64")));
  return lines;
}
