/** Sends calls of chain_getMultiProof to the engine in packed form (workers/job/packedCall.ts). */
import assert from "node:assert/strict";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import type {Engine} from "../../../workers/engine.ts";
import {answerStart, SEPARATOR} from "../../../workers/job/answers.ts";
import {ADDRESS_AT, KEYS_AT, ProofForm, writeCallHead} from "../../../workers/job/packedCall.ts";
import {proveJob} from "./proveCalls.ts";

/** @returns the proof's bytes. Asks one job for them plain and in hex, and compares the two */
export async function proveMulti(
  engine: Engine,
  block: number,
  request: readonly ProofRequest[],
): Promise<Uint8Array> {
  const calls = Buffer.concat([
    packMulti(block, request, ProofForm.MULTI_HEX),
    packMulti(block, request, ProofForm.MULTI_BYTES),
  ]);
  const {text, ends, failures} = await proveJob(engine, {calls, ids: ["7", "8"]});
  assert.deepEqual(failures, []);
  const [response, bytes] = [0, 1].map(call => {
    const answer = Buffer.from(text.subarray(answerStart(ends, call), ends[call]));
    assert.equal(answer.toString("latin1", answer.length - 1), SEPARATOR);
    return answer.subarray(0, -1);
  }) as [Buffer, Buffer];
  assert.equal(response.toString(), `{"jsonrpc":"2.0","id":7,"result":"${encodeHex(bytes)}"}`);
  return new Uint8Array(bytes);
}

function packMulti(block: number, request: readonly ProofRequest[], form: ProofForm): Buffer {
  return Buffer.concat(
    request.flatMap(({address, storageKeys}, entry) => {
      const head = Buffer.alloc(KEYS_AT);
      writeCallHead(head, 0, block, storageKeys.length, entry === 0 ? form : ProofForm.NEXT_ENTRY);
      head.set(decodeHex(address.toLowerCase()), ADDRESS_AT);
      return [head, ...storageKeys.map(key => word(BigInt(key)))];
    }),
  );
}
