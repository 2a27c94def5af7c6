/** Where the parts of a LevelDB table lie, to damage them one by one. */
import type {BlockHandle} from "../../../storage/leveldb/blockCursor.ts";
import {endOf, TableBlocks} from "../../../storage/leveldb/tableBlocks.ts";

const TRAILER_BYTES = 5;
const FOOTER_BYTES = 48;

interface TablePart {
  readonly name: string;
  /** From byte `start` up to `end`. */
  readonly start: number;
  readonly end: number;
}

/** @returns every part of the table. The trailers of blocks are separate parts */
export function tableParts(directory: string, number: number): {parts: TablePart[]; data: BlockHandle[]} {
  const table = TableBlocks.open(directory, number);
  try {
    const {metaindex, index} = table.readFooter();
    const handlesIn = (block: BlockHandle): BlockHandle[] => {
      const handles: BlockHandle[] = [];
      const cursor = table.openBlock(block, "block");
      while (cursor.next()) handles.push(cursor.handle());
      return handles;
    };
    const data = handlesIn(index);
    const [filter] = handlesIn(metaindex) as [BlockHandle];
    const blocks = {data: data[data.length >> 1] as BlockHandle, filter, metaindex, index};
    const parts = Object.entries(blocks).flatMap(([name, block]) => [
      {name: `${name} block`, start: block.offset, end: endOf(block) - TRAILER_BYTES},
      {name: `${name} block's trailer`, start: endOf(block) - TRAILER_BYTES, end: endOf(block)},
    ]);
    parts.push({name: "footer", start: table.size - FOOTER_BYTES, end: table.size});
    return {parts, data};
  } finally {
    table.close();
  }
}
