import {StoreError} from "../../storage/errors.ts";
import {SourceError} from "../blocks/sourceStep.ts";
import {TrieLogError} from "../blocks/trielogs/trieLog.ts";
import {NodeFailure} from "../rpc/node.ts";

const EXPECTED = [SourceError, NodeFailure, TrieLogError, StoreError] as const;

/**
 * Runs a part of the reading of a file with lines.
 *
 * @param reader - `line` is read after a failure
 * @throws SourceError that names the line in which something is wrong
 */
export function atLine<Result>(reader: {readonly line: number}, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!EXPECTED.some(kind => error instanceof kind)) throw error;
    throw new SourceError(`line ${reader.line}: ${(error as Error).message}`, {cause: error});
  }
}
