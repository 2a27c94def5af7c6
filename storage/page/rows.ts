/**
 * The rows of nodes that a page holds: the lowest one cut to its occupied prefix, each row above half as long, rounded up.
 *
 *   row 0 (n nodes) | row 1 (ceil(n / 2)) | row 2 (ceil(n / 4)) | ...        back to back, 32 bytes a node
 */
import {MAX_ROW_NODES, MAX_ROWS} from "./geometry.ts";

/** Nodes of row `row` above `nodes` nodes. */
export function rowLength(nodes: number, row: number): number {
  return (nodes + (1 << row) - 1) >> row;
}

/** starts[nodes * (MAX_ROWS + 1) + row]: nodes before a row; row MAX_ROWS = all of them. */
const starts: Uint8Array = (() => {
  const table = new Uint8Array((MAX_ROW_NODES + 1) * (MAX_ROWS + 1));
  for (let nodes = 0; nodes <= MAX_ROW_NODES; nodes++)
    for (let row = 0, start = 0; row <= MAX_ROWS; row++) {
      table[nodes * (MAX_ROWS + 1) + row] = start;
      start += rowLength(nodes, row);
    }
  return table;
})();

/** Nodes before row `row` in a page whose lowest row has `nodes`: also the nodes of all rows, if it has `row` of them. */
export function rowStart(nodes: number, row: number): number {
  return starts[nodes * (MAX_ROWS + 1) + row] as number;
}
