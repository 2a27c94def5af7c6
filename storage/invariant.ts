/**
 * Ends the whole process, from any of its threads, where the code contradicts itself: nothing may continue from an
 * unknown state, least of all a writer. Damaged files, bad input and refused writes are errors instead.
 */
import {writeSync} from "node:fs";
import {isMainThread} from "node:worker_threads";

const STDERR = 2;

/** @param name - what always holds, such as "the tasks under way in a lane are not negative" */
export function assertInvariant(holds: boolean, name: string): asserts holds {
  if (!holds) endProcess(new Error(`proofd: broken invariant: ${name}`));
}

function endProcess(broken: Error): never {
  try {
    writeSync(STDERR, `${broken.stack}\n`);
  } catch {
    // Standard error is closed. The process ends all the same.
  }
  // process.abort does not work in a thread, and process.exit in a thread ends only that thread.
  process.kill(process.pid, "SIGABRT");
  // The kernel does not deliver the signal to the first process of a container. There, a thread ends at least itself.
  if (isMainThread) process.abort();
  throw broken;
}
