/**
 * Single pages at the head: read from LevelDB, checked, decoded.
 *
 * Input: leaf pages far apart, and the inner pages and directories above them. There are few of those, so a server has them
 * cached.
 */

import {LEAVES_PER_PAGE, POSITIONS_PER_PAGE} from "../../storage/page/geometry.ts";
import {childPage} from "../../storage/page/innerPage.ts";
import {leafAt} from "../../storage/page/leafPage.ts";
import {pageKey} from "../../storage/record/layout.ts";
import {openRecord} from "../../storage/record/record.ts";
import {findPage, readLeafPage} from "../../storage/tree/treeReader.ts";
import type {BenchStore} from "./benchStore.ts";
import {type BenchTask, INPUTS, type Stage, spread} from "./stage.ts";

const READS_PER_RUN = 64;
const DECODES_PER_RUN = 1024;

export function createPageStage({store, blocks}: BenchStore): Stage {
  const {reader, db} = store;
  const {pages} = reader;
  const {accounts: tree} = reader.blockOrThrow(blocks);
  /** Page numbers at `level`, without the last page, which is not full. */
  const pageNumbers = (level: number): number[] => {
    const count = Math.max(1, Math.floor(tree.nextFreeNode / (POSITIONS_PER_PAGE[level] as number)));
    return Array.from({length: INPUTS}, (_, i) => findPage(pages, tree, level, spread(i, count)));
  };
  const leafPages = pageNumbers(0);
  const innerPages = pageNumbers(1);
  const innerBody = pages.read(innerPages[0] as number);
  const leafBody = readLeafPage(pages, tree, 1);
  const keys = leafPages.map(pageKey);
  const leafKey = keys[0] as Buffer;
  const leafRecord = db.getSync(leafKey) as Buffer;

  let round = 0;
  const repeat = <Input>(
    units: number,
    name: string,
    inputs: readonly Input[],
    run: (input: Input) => unknown,
  ): BenchTask => ({
    name,
    units,
    run: () => {
      for (let i = 0; i < units; i++) run(inputs[round++ % INPUTS] as Input);
    },
  });
  const positions = Array.from({length: INPUTS}, (_, i) => i % LEAVES_PER_PAGE);
  return {
    tasks: [
      repeat(READS_PER_RUN, "LevelDB: get a leaf page", keys, key => db.getSync(key)),
      repeat(READS_PER_RUN, `CRC-32 of a leaf page, ${leafRecord.length} bytes`, positions, () =>
        openRecord(leafKey, leafRecord),
      ),
      repeat(READS_PER_RUN, "read and check a leaf page", leafPages, page => pages.read(page)),
      repeat(READS_PER_RUN, "read and check an inner page, not cached", innerPages, page =>
        reader.readRecord(pageKey(page)),
      ),
      repeat(DECODES_PER_RUN, "read an inner page, cached", innerPages, page => pages.read(page)),
      repeat(DECODES_PER_RUN, "decode a leaf of a page", positions, position => leafAt(leafBody, position)),
      repeat(DECODES_PER_RUN, "decode a child number of an inner page", positions, position =>
        childPage(innerBody, position),
      ),
    ],
  };
}
