/** Block differences from an input that keeps growing. Each segment continues the chain of the segment before. */
import {readDifferenceLines} from "./differenceLines.ts";
import type {FollowedInput} from "./followedInput.ts";
import type {SourceBlock} from "./sourceBlock.ts";

/**
 * If a segment ends within a line (its writer died, or the file was rotated there), that line is dropped. The next segment
 * must repeat the line; otherwise its first block does not follow and is refused.
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
      // The caller asks for the next block, so it has taken this one. A stream has no end that could be reached.
      if (kind !== "file") watch.set("following");
    }
  }
}
