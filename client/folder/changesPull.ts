/** What differs between two blocks: verified answers into rows, with the bytes that prove them. */
import {pullChanges} from "../pull/pullChanges.ts";
import {encodeBegin, LEAVES_PER_ANSWER, rowsOfChanges} from "./provenChanges.ts";
import type {PullWork} from "./pullPlace.ts";

/**
 * Goes on from the place of the work.
 *
 * @param from - the block before
 * @throws what pullChanges throws, after all answers before
 */
export async function pullChangesFrom(work: PullWork, from: bigint): Promise<void> {
  const {client, block, signal, writer, suite, leavesPerRange = LEAVES_PER_ANSWER} = work;
  const {changes: cursor} = work.place;
  const asked = {from, to: block, signal, leavesPerAnswer: leavesPerRange, cursor};
  const answers = pullChanges(client, {tree: "all", ...asked});
  for await (const answer of answers) {
    writer.add("proofs", {entries: encodeBegin(answer.begin), proof: answer.proof});
    const rows = rowsOfChanges(suite, answer);
    for (const {table, row} of rows) writer.add(table, row as never);
    work.place = {...work.place, changes: answer.cursor};
    if (writer.isDue) writer.finishParts(work.place);
    work.progress.show("changes", undefined, rows.length);
  }
}
