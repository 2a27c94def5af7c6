/** Which blocks a server holds, and which of them it can prove. */
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {readArray, readObject, readOptionalQuantity, readQuantity, readText} from "./answerFields.ts";

/** What the server says of itself. A number is undefined if there is no such block. */
export interface Coverage {
  readonly earliest: bigint | undefined;
  readonly finalized: bigint | undefined;
  readonly latest: bigint | undefined;
  /** The name of a hash suite, such as "sha256". */
  readonly suite: string;
  /** Blocks that can be proved, as `[from, to]`, newest first; not all if there are very many. */
  readonly ranges: readonly (readonly [from: bigint, to: bigint])[];
  /** How many ranges there are in all. */
  readonly rangeCount: bigint;
}

const MAX_RANGES = 1024;
const COVERAGE_BYTES = 1 << 17;

/** @throws RpcError */
export async function getCoverage(caller: RpcCaller, signal?: AbortSignal): Promise<Coverage> {
  const request = {method: "chain_getCoverage", params: [], maxAnswerBytes: COVERAGE_BYTES};
  const fields = readObject("coverage", await caller.call(request, signal));
  return {
    earliest: readOptionalQuantity("earliest", fields.earliest),
    finalized: readOptionalQuantity("finalized", fields.finalized),
    latest: readOptionalQuantity("latest", fields.latest),
    suite: readText("suite", fields.suite, 64),
    ranges: readArray("ranges", fields.ranges, MAX_RANGES).map((range, i) => {
      const [from, to] = readArray(`ranges[${i}]`, range, 2);
      return [readQuantity(`ranges[${i}][0]`, from), readQuantity(`ranges[${i}][1]`, to)];
    }),
    rangeCount: readQuantity("rangeCount", fields.rangeCount),
  };
}
