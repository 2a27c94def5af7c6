/**
 * Blocks that are pruned together, and the record that says so while it is being done.
 *
 *   blocks   ... keeps its trees | first ... next - 1: to be pruned | next keeps its trees ...
 *   body     first u48 | next u48
 *
 * Some blocks of a run may have been pruned by an earlier run, but not `first`. The record is written together with the
 * first pruned block, and emptied together with the last page. So after a kill in between, the next process continues
 * the same run.
 */
import type {StateReader} from "../block/stateReader.ts";
import {META} from "../record/layout.ts";
import {BodyReader, encodeNumber} from "../record/recordBody.ts";

export interface PruneRun {
  readonly first: number;
  /** Above `first`, finalized, and not pruned. */
  readonly next: number;
}

export function encodeRun({first, next}: PruneRun): Buffer {
  return Buffer.concat([encodeNumber(first), encodeNumber(next)]);
}

export function readRun(reader: StateReader): PruneRun | undefined {
  const body = reader.readMark(META.pruning);
  if (body === undefined) return undefined;
  const fields = new BodyReader("pruning record", body);
  return fields.end({first: fields.number(), next: fields.number()});
}
