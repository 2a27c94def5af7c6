/** Reading LevelDB's files without LevelDB gives what LevelDB gives: every key, every edge of a range, deleted keys included. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {Level} from "level";
import {uniformInt} from "pure-rand/distribution/uniformInt";
import {xoroshiro128plus} from "pure-rand/generator/xoroshiro128plus";
import {FileSnapshot} from "../../storage/leveldb/fileSnapshot.ts";
import {readManifest} from "../../storage/leveldb/manifest.ts";
import {propertyRuns} from "../support/soak.ts";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

const RUNS = propertyRuns(1);
const BATCHES = 60;
const KEYS = 3000;
/** As small as LevelDB allows: the batches make tables on several levels. */
const SMALL = {writeBufferSize: 64 << 10, maxFileSize: 1 << 20, blockSize: 1024};

function open(directory: string): Level<Buffer, Buffer> {
  return new Level(directory, {keyEncoding: "buffer", valueEncoding: "buffer", compression: false, ...SMALL});
}

/** classic-level's, which is what Level is here, and its types do not say. */
function compactRange(db: Level<Buffer, Buffer>, start: Buffer, end: Buffer): Promise<void> {
  type Compactable = {compactRange(start: Buffer, end: Buffer): Promise<void>};
  return (db as unknown as Compactable).compactRange(start, end);
}

/** Keys of several lengths, near each other. */
function keyAt(i: number): Buffer {
  return Buffer.from(`${"bchmp"[i % 5]}${i.toString(16).padStart(1 + (i % 7), "0")}`);
}

test("a snapshot of the files has the records that LevelDB has, also while LevelDB writes", async () => {
  const levels = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.integer(), async seed => {
      const directory = makeTemporaryFolder();
      const db = open(directory);
      try {
        await db.open();
        const generator = xoroshiro128plus(seed);
        const random = (below: number) => uniformInt(generator, 0, below - 1);
        for (let batch = 0; batch < BATCHES; batch++) {
          const chained = db.batch();
          for (let i = 0; i < 200; i++) {
            const key = keyAt(random(KEYS));
            if (random(4) === 0) chained.del(key);
            else chained.put(key, Buffer.alloc(random(300), random(256)));
          }
          await chained.write();
          // What LevelDB compacts by itself, and when, is its own affair: from here on there are tables far down, and
          // the next ones overlap them.
          if (batch === 10) await compactRange(db, Buffer.from("a"), Buffer.from("z"));
          if (batch % 20 !== 19) continue;
          // Before the comparison, whose many reads make LevelDB compact.
          const manifest = await readManifest(directory);
          for (const {level} of manifest.tables.values()) levels.add(level);
          await compare(db, directory, random);
        }
      } finally {
        await db.close();
      }
    }),
    {numRuns: RUNS, seed: 4},
  );
  assert.ok(levels.size > 1, `tables of several levels: ${[...levels]}`);
});

async function compare(
  db: Level<Buffer, Buffer>,
  directory: string,
  random: (below: number) => number,
): Promise<void> {
  const snapshot = await FileSnapshot.open(directory);
  try {
    assert.deepEqual([...snapshot.records()], await db.iterator().all());
    for (let i = 0; i < 500; i++) {
      const key = keyAt(random(2 * KEYS));
      assert.deepEqual(snapshot.getSync(key), db.getSync(key), key.toString());
    }
    for (let i = 0; i < 50; i++) {
      const [gte, lte] = [keyAt(random(KEYS)), keyAt(random(KEYS))].sort(Buffer.compare) as [Buffer, Buffer];
      for (const reverse of [false, true]) {
        const edge = {gte, lte, reverse, limit: 1} as const;
        assert.deepEqual(
          await snapshot.iterator(edge).all(),
          await db.iterator(edge).all(),
          `${gte} to ${lte}`,
        );
      }
    }
  } finally {
    snapshot.close();
  }
}
