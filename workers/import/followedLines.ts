/** Block differences from an input that goes on: the lines of each segment continue the chain of the one before. */
import {readDifferenceLines} from "./differenceLines.ts";
import type {FollowedInput} from "./followedInput.ts";
import type {SourceBlock} from "./sourceBlock.ts";

/**
 * A segment that ends within a line (its writer died, or was rotated there) loses that line: the next segment has it
 * again, or else its first block does not follow and is refused.
 *
 * @throws SourceError naming the line, counted from the segment's start
 */
export async function* readFollowedLines(
  input: FollowedInput,
  signal: AbortSignal,
): AsyncGenerator<SourceBlock & {readonly line: number}> {
  const {watch} = input;
  const onCut = (line: number): void => watch.tell("line_cut", line);
  for await (const {chunks, kind} of input.segments()) {
    const lines = readDifferenceLines(chunks, signal, kind === "once" ? undefined : onCut);
    for await (const block of lines) {
      yield block;
      // Asked for the next one, so it was taken. A stream has no end to be read to.
      if (kind !== "file") watch.set("following");
    }
  }
}
