/** chain_getChanges: what differs between two blocks, verified unless there is no verifier. */
import {quantity} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import {LAST_CURSOR} from "../leaves/changeCursor.ts";
import {type ChangesRequest, readComparedBlocks, verifyChanges} from "../leaves/changeRange.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import {type AskedBlock, askNotBefore} from "./askedBlock.ts";
import {type BlockName, blockNumber, encodeBlock} from "./block.ts";
import {requireWhole} from "./connection.ts";
import type {ProofMethods} from "./proofMethods.ts";
import type {ProvenChanges, ServerChanges} from "./provenAnswer.ts";

const MAX_COUNT = 0xffff;
/** Twice what an answer's bytes may be, for their hex. */
const MAX_ANSWER_BYTES = 2 * (512 * 1024 + 16_384);

/** A tag needs no call of its own: the answer names its blocks. @throws RpcError, ProofError, TypeError */
export async function getChanges(
  {caller, verifier}: ProofMethods,
  {tree, cursor, count}: ChangesRequest,
  fromBlock: BlockName,
  {block: toBlock, atLeast}: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<ProvenChanges | ServerChanges> {
  requireWhole("count", count, 1, MAX_COUNT);
  if (typeof cursor !== "bigint" || cursor < 0n || cursor >= LAST_CURSOR)
    throw new TypeError(`expected cursor to be 0n or the end of an answer, got ${shown(cursor)}`);
  const asked = [fromBlock, toBlock];
  const params = [tree, ...asked.map(encodeBlock), quantity(cursor), quantity(BigInt(count))];
  const request = {method: "chain_getChanges", params, takesBytes: true, maxAnswerBytes: MAX_ANSWER_BYTES};
  const ask = async () => {
    const result = await caller.call(request, signal);
    const proof = result instanceof Uint8Array ? result : readBytes("result", result);
    return {proof, blocks: readComparedBlocks(proof)};
  };
  const {proof, blocks} = await askNotBefore(
    {block: toBlock, atLeast},
    caller.timeoutMs,
    signal,
    ask,
    ({blocks: [, to]}) => to.number,
  );
  for (const [i, {number}] of blocks.entries()) {
    const expected = blockNumber(asked[i] as BlockName);
    const name = i === 0 ? "fromBlock" : "toBlock";
    const rule = `expected ${expected}, got ${number}`;
    check(expected === undefined || number === expected, `${name}.number`, rule);
  }
  const [{number: from}, {number: to}] = blocks;
  if (verifier === undefined) return {fromBlock: from, toBlock: to, proof};
  const [fromRoot, toRoot] = await Promise.all([verifier.of(from, signal), verifier.of(to, signal)]);
  const roots = {from: fromRoot, to: toRoot};
  return {...verifyChanges(verifier.suite, roots, {tree, cursor, count}, proof), proof};
}
