/**
 * The parts of memory that are in use between two steps. With them and all variables, a run goes on in another instance. A region
 * that is added to layout.ts needs a part here.
 */
import {codesBytes} from "./codes";
import {current, FRAME_BYTES, SP, usedArenaEnd} from "./frames";
import {heapBytes} from "./heap";
import {journalMark} from "./journal";
import {ARENA, CODES, HEAP, IO, JOURNAL, LOGS, RETURNED, STACK} from "./layout";
import {logsMark} from "./logs";
import {returnedBytes} from "./returned";

/** At PARTS_AT: where each part begins and ends, u32. */
export const PARTS_AT: usize = IO;
export const PART_COUNT: u32 = 8;

export function listParts(): void {
  // Constants, rules, the message, and the frames.
  list(0, 0, current + FRAME_BYTES);
  list(1, STACK, load<u32>(current, SP));
  list(2, JOURNAL, journalMark());
  list(3, LOGS, logsMark());
  list(4, RETURNED, RETURNED + returnedBytes);
  list(5, CODES, CODES + codesBytes());
  list(6, HEAP, HEAP + heapBytes());
  list(7, ARENA, usedArenaEnd());
}

function list(part: usize, begin: usize, end: usize): void {
  store<u32>(PARTS_AT + 8 * part, <u32>begin);
  store<u32>(PARTS_AT + 8 * part + 4, <u32>end);
}
