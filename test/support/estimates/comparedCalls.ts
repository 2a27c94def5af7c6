/** Compares answers of eth_call with those of a real node. */
import assert from "node:assert/strict";
import type {RpcAnswer} from "../http/rpcAnswer.ts";
import type {CallParams} from "./randomCalls.ts";

/** A server that takes batches. */
interface Asked {
  send(body: unknown): Promise<unknown>;
}

/** Their parameters are long, and geth gives up a batch after 30 s, which a busy machine may need for 20 calls. */
const BATCH = 5;

/** @param hasCodes - the node's errors have the codes of geth. @returns how many ended how */
export async function compareCalls(
  service: Asked,
  node: Asked,
  sample: readonly CallParams[],
  hasCodes: boolean,
): Promise<Readonly<Record<"returned" | "reverted" | "failed", number>>> {
  const counts = {returned: 0, reverted: 0, failed: 0};
  for (let from = 0; from < sample.length; from += BATCH) {
    const calls = sample
      .slice(from, from + BATCH)
      .map((params, id) => ({jsonrpc: "2.0", id, method: "eth_call", params}));
    const fromNode = node.send(calls).catch(() => sendSingly(node, calls));
    const [ours, theirs] = (await Promise.all([service.send(calls), fromNode])) as RpcAnswer[][];
    for (const [at, {params}] of calls.entries()) {
      const [mine, other] = [ours?.[at] as RpcAnswer, theirs?.[at] as RpcAnswer];
      const {result, error} = other;
      const what = `call ${from + at}: ${JSON.stringify([mine, other, params])}`;
      assert.equal(mine.result, result, what);
      assert.equal(mine.error === undefined, error === undefined, what);
      if (hasCodes) assert.equal(mine.error?.code, error?.code, what);
      if (error?.code === 3) assert.equal(mine.error?.data, error.data, what);
      if (error === undefined) counts.returned++;
      else counts[error.code === 3 ? "reverted" : "failed"]++;
    }
  }
  return counts;
}

/** For a batch that takes longer than the node's 30 s. If the node has crashed, the error names the calls. */
async function sendSingly(node: Asked, calls: readonly object[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const call of calls)
    answers.push(
      await node.send(call).catch(cause => {
        throw new Error(`the node does not answer, asked for ${JSON.stringify(calls)}`, {cause});
      }),
    );
  return answers;
}
