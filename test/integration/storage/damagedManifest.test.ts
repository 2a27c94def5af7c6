/** Damage of the files that say which files LevelDB has: CURRENT and the manifest. */
import assert from "node:assert/strict";
import {readdir, readFile, rm, truncate, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, test} from "node:test";
import {assertRefused, LoggedStores, openLogged} from "../../support/stores/loggedStores.ts";
import {logPieces, placesIn} from "../../support/stores/logPieces.ts";

const stores = await LoggedStores.create();
after(() => stores.remove());

test("damage of CURRENT, of the manifest and a table that is gone or cut short are named", async () => {
  const tables = await stores.copyOf(stores.single);
  await (await openLogged(tables)).close();
  const names = await readdir(tables);
  const manifest = names.find(name => name.startsWith("MANIFEST-")) as string;
  const table = names.find(name => name.endsWith(".ldb")) as string;
  const bytes = await readFile(join(tables, manifest));
  const pieces = logPieces(bytes);
  assert.ok(pieces.length >= 2);
  for (const piece of pieces)
    for (const at of placesIn(piece)) {
      const directory = await stores.copyOf(tables);
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] as number) ^ 1;
      await writeFile(join(directory, manifest), flipped);
      await assertRefused(directory, new RegExp(`${manifest}, byte ${piece.start}: `), `byte ${at}`);
      await rm(directory, {recursive: true});
    }
  for (const [change, message] of [
    [
      (directory: string) => writeFile(join(directory, "CURRENT"), "MANIFEST-0000"),
      /CURRENT, byte 0: it does not name a manifest/,
    ],
    [
      (directory: string) => rm(join(directory, manifest)),
      new RegExp(`${manifest}: it is not there, although CURRENT names it`),
    ],
    [
      (directory: string) => truncate(join(directory, manifest), pieces[1]?.start),
      new RegExp(`${manifest}: it has no next file number`),
    ],
    [
      (directory: string) => rm(join(directory, table)),
      new RegExp(`${table}: it is not there, although ${manifest} names it`),
    ],
    [
      (directory: string) => truncate(join(directory, table), 1000),
      new RegExp(`${table}: it has 1000 bytes, ${manifest} says \\d+`),
    ],
  ] as const) {
    const directory = await stores.copyOf(tables);
    await change(directory);
    await assertRefused(directory, message);
  }
});
