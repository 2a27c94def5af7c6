/** Sends calls of chain_getProof to the engine in packed form (workers/messages/packedCall.ts) and returns the answers' texts. */
import assert from "node:assert/strict";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import type {Engine} from "../../../workers/engine.ts";
import {type Answers, answerStart, SEPARATOR} from "../../../workers/messages/answers.ts";
import type {PackedJob} from "../../../workers/messages/jobMailbox.ts";
import {ADDRESS_AT, KEYS_AT, ProofForm, writeCallHead} from "../../../workers/messages/packedCall.ts";

export interface ProveCall {
  readonly block: number;
  /** Lower case. */
  readonly address: string;
  readonly slots: readonly bigint[];
}

/** An engine, or one prover. */
type Proving = Pick<Engine, "prove">;

/** Calls per job: about 10 MB of answers if each call has ten slots. */
const CALLS_PER_JOB = 64;

function packCalls(calls: readonly ProveCall[]): Uint8Array {
  return Buffer.concat(
    calls.flatMap(({block, address, slots}) => {
      const head = Buffer.alloc(KEYS_AT);
      writeCallHead(head, 0, block, slots.length, ProofForm.PLAIN);
      head.set(decodeHex(address), ADDRESS_AT);
      return [head, ...slots.map(word)];
    }),
  );
}

/**
 * Proves all calls, 64 per job, on all threads of the engine.
 *
 * @returns for each call its JSON-RPC response (the id is its place in `calls`), or the failure's name
 */
export async function proveCalls(engine: Proving, calls: readonly ProveCall[]): Promise<string[]> {
  const jobs: Promise<string[]>[] = [];
  for (let start = 0; start < calls.length; start += CALLS_PER_JOB) {
    const part = calls.slice(start, start + CALLS_PER_JOB);
    jobs.push(provePart(engine, part, start));
  }
  return (await Promise.all(jobs)).flat();
}

async function provePart(engine: Proving, calls: readonly ProveCall[], firstId: number): Promise<string[]> {
  const ids = calls.map((_, i) => `${firstId + i}`);
  const {text, ends, failures} = await proveJob(engine, {calls: packCalls(calls), ids});
  const bytes = Buffer.from(text);
  const failureOf = new Map(failures.map(({call, failure}) => [call, failure]));
  return calls.map((_, i) => {
    const start = answerStart(ends, i);
    const end = ends[i] as number;
    const failure = failureOf.get(i);
    if (failure !== undefined) {
      if (end !== start) throw new Error(`call ${i} failed and has ${end - start} bytes`);
      return failure;
    }
    const text = bytes.toString("utf8", start, end);
    if (!text.endsWith(SEPARATOR)) throw new Error(`answer ${i} does not end with a comma`);
    return text.slice(0, -SEPARATOR.length);
  });
}

/**
 * Asks one job for an answer in hex and for the same in bytes, and compares the two.
 *
 * @returns the answer's bytes, or the failure's text
 */
export async function proveBothForms(
  engine: Proving,
  hexCall: Uint8Array,
  bytesCall: Uint8Array,
): Promise<Uint8Array | string> {
  const calls = Buffer.concat([hexCall, bytesCall]);
  const {text, ends, failures} = await proveJob(engine, {calls, ids: ["7", "8"]});
  const [failure] = failures;
  if (failure !== undefined) return `${failure.failure}: ${failure.detail}`;
  const [response, bytes] = [0, 1].map(call => {
    const answer = Buffer.from(text.subarray(answerStart(ends, call), ends[call]));
    assert.equal(answer.toString("latin1", answer.length - 1), SEPARATOR);
    return answer.subarray(0, -1);
  }) as [Buffer, Buffer];
  assert.equal(response.toString(), `{"jsonrpc":"2.0","id":7,"result":"${encodeHex(bytes)}"}`);
  return new Uint8Array(bytes);
}

export function proveJob(engine: Proving, job: PackedJob): Promise<Answers> {
  return new Promise((resolve, reject) =>
    engine.prove(job, settlement => {
      if ("error" in settlement) return reject(settlement.error);
      const {text, ends, failures, memory} = settlement.answers;
      const kept = ends.slice(0, job.ids.length);
      resolve({text: text.slice(0, kept.at(-1) ?? 0), ends: kept, failures});
      memory?.release();
    }),
  );
}
