/**
 * The file, FIFO or standard input of --diffs.
 *
 * A new attempt reads a file from its start. Blocks that are already in the store are recognised and skipped, so nothing is
 * lost. A block that does not follow the newest one is refused at every attempt. Standard input cannot be read again, so its
 * failure is final.
 */
import type {FollowedSource} from "./followedSource.ts";

/** @param path - a file, a FIFO or "-" */
export function createFollowedFile(path: string): FollowedSource {
  return {
    name: path,
    canRetry: path !== "-",
    startsOver: true,
    stateLines: {
      reading: "the source is being read",
      following: "the source is read to its end; new lines are imported as they come",
      waiting: "waiting for the source: it does not exist, or has no writer",
    },
    changeLines: {
      replaced:
        "another file has replaced the source: the old one was read to its end, the new one is read from its start",
      truncated: "the source became shorter; it is read again from its start",
      writer_left: "the writer of the source has gone; waiting for the next one",
      line_cut: "the source ended in the middle of a line; this line is dropped",
    },
    // A compressed file cannot grow, so it is read once.
    describe: () => ({kind: "diffs", path, follow: !path.endsWith(".gz")}),
  };
}
