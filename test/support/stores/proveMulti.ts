/** Sends calls of chain_getMultiProof to the pool in packed form (workers/job/packedCall.ts). */
import assert from "node:assert/strict";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import type {ProofPool} from "../../../workers/engine.ts";
import {answerStart, SEPARATOR} from "../../../workers/job/answers.ts";
import type {MultiJob, Share} from "../../../workers/job/multiJob.ts";
import {createTables} from "../../../workers/job/multiTables.ts";
import {ADDRESS_AT, KEYS_AT, ProofForm, writeCallHead} from "../../../workers/job/packedCall.ts";

export interface MultiProofs {
  /** The whole JSON-RPC response, with the id 7. */
  readonly json: string;
  readonly bytes: Uint8Array;
}

/** Asks one job for the JSON and for the bytes. */
export async function proveMulti(
  pool: ProofPool,
  block: number,
  request: readonly ProofRequest[],
): Promise<MultiProofs> {
  const calls = Buffer.concat([
    packMulti(block, request, ProofForm.MULTI_TEXT),
    packMulti(block, request, ProofForm.MULTI_BYTES),
  ]);
  const {text, ends, failures} = await pool.prove({calls, ids: ["7", "8"]});
  assert.deepEqual(failures, []);
  const [json, bytes] = [0, 1].map(call => {
    const answer = Buffer.from(text.subarray(answerStart(ends, call), ends[call]));
    assert.equal(answer.toString("latin1", answer.length - 1), SEPARATOR);
    return answer.subarray(0, -1);
  }) as [Buffer, Buffer];
  return {json: json.toString("utf8"), bytes: new Uint8Array(bytes)};
}

/** Asks in this many shares of each stage (workers/job/multiJob.ts), and puts the texts together. @returns as `proveMulti` */
export async function proveShared(
  pool: ProofPool,
  block: number,
  request: readonly ProofRequest[],
  count: number,
): Promise<MultiProofs> {
  const [json, bytes] = await Promise.all([
    proveShares(pool, packMulti(block, request, ProofForm.MULTI_TEXT), count),
    proveShares(pool, packMulti(block, request, ProofForm.MULTI_BYTES), count),
  ]);
  return {json: json.toString("utf8"), bytes: new Uint8Array(bytes)};
}

async function proveShares(pool: ProofPool, call: Buffer, count: number): Promise<Buffer> {
  const tables = createTables(call, SharedArrayBuffer);
  const run = async (stage: Share["stage"], index: number): Promise<Uint8Array> => {
    const job: MultiJob = {tables, share: {stage, index, count}, id: "7"};
    const {text, ends, failures} = await pool.prove(job);
    assert.deepEqual(failures, []);
    assert.deepEqual(ends, Uint32Array.of(text.length));
    return text;
  };
  const indexes = Array.from({length: count}, (_, index) => index);
  const located = await Promise.all(indexes.map(index => run("locate", index)));
  assert.deepEqual(Buffer.concat(located), Buffer.alloc(0));
  const first = await run("write", 0);
  const rest = await Promise.all(indexes.slice(1).map(index => run("write", index)));
  const text = Buffer.concat([first, ...rest]);
  assert.equal(text.toString("latin1", text.length - 1), SEPARATOR);
  return text.subarray(0, -1);
}

export function packMulti(block: number, request: readonly ProofRequest[], form: ProofForm): Buffer {
  return Buffer.concat(
    request.flatMap(({address, storageKeys}, entry) => {
      const head = Buffer.alloc(KEYS_AT);
      writeCallHead(head, 0, block, storageKeys.length, entry === 0 ? form : ProofForm.NEXT_ENTRY);
      head.set(decodeHex(address.toLowerCase()), ADDRESS_AT);
      return [head, ...storageKeys.map(key => word(BigInt(key)))];
    }),
  );
}
