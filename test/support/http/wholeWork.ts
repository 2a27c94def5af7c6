/** Work of the main thread, all its parts at once. */
import type {Work} from "../../../server/fairness/work.ts";

export function finishWork<Result>(work: Work<Result>): Result {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
